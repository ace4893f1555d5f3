#include "core/other_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.h"

namespace tpack {
namespace {

// Places, words, advice, and an example: sections of a config. `layers` of an example stand before the last
// layer, `logits`, and `ends` after all, `maps` between the source and the batches. (One line per row.)
// clang-format off
constexpr std::array kWords = std::to_array<OtherWords>({
    // optimizer
    {"optimizer", "Adagrad Adadelta Nadam NAdam RAdam Adamax Ftrl LAMB LARS Lion Adafactor AdaBelief Rprop LBFGS", "not available; the nearest are Adam and AdamW", "optimizer: {AdamW: {learning_rate: 1.0e-3}}"},
    {"optimizer", "name type class_name optimizer", "write the name as the key, such as Adam: {learning_rate: 1.0e-3}", "optimizer: {Adam: {learning_rate: 1.0e-3}}"},
    {"optimizer SGD", "momentum nesterov dampening", "use the optimizer Momentum, which has `momentum` and `nesterov`", "optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9, nesterov: true}}"},
    {"optimizer RMSProp", "rho alpha", "did you mean 'decay'?", "optimizer: {RMSProp: {decay: 0.9}}"},
    {"optimizer Adam", "weight_decay wd", "use the optimizer AdamW; for the L2 penalty of PyTorch's Adam, add the cost Regularize: {l2: 1.0e-4}", "optimizer: {AdamW: {weight_decay: 0.01}}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"any optimizer", "lr base_lr step_size alpha eta", "did you mean 'learning_rate'?", "optimizer: {SGD: {learning_rate: 0.1}}"},
    {"any optimizer", "weight_decay wd l2 lambda", "add the cost Regularize: {l2: 1.0e-4}, which is for all weights", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"any optimizer", "decay lr_decay schedule scheduler lr_scheduler lr_schedule lr_policy warmup warmup_steps warmup_epochs", "write a schedule as the learning rate, such as learning_rate: {Linear: {start: 0.1, end: 0, warmup: 5}}", "optimizer: {SGD: {learning_rate: {Linear: {start: 0.1, end: 0, warmup: 5}}}}"},
    {"any optimizer", "betas", "write beta1 and beta2", "optimizer: {Adam: {beta1: 0.9, beta2: 0.999}}"},
    {"any optimizer", "eps adam_epsilon", "did you mean 'epsilon'?", "optimizer: {Adam: {epsilon: 1.0e-7}}"},
    {"any optimizer", "clipnorm clip_norm global_clipnorm max_grad_norm max_norm gradient_clip_val gradient_clip grad_clip clip_gradients", "write gradient: [{GlobalNormClip: 1}]", "optimizer: {Adam: {gradient: [{GlobalNormClip: 1}]}}"},
    {"any optimizer", "clipvalue clip_value", "write gradient: [{ValueClip: 0.5}]", "optimizer: {Adam: {gradient: [{ValueClip: 0.5}]}}"},
    {"any optimizer", "amsgrad fused foreach maximize jit_compile use_ema use_locking trust_ratio", "not available; leave it out", "optimizer: {Adam: {learning_rate: 1.0e-3}}"},
    {"any optimizer", "params parameters variables trainable_variables", "all variables are trained; `freeze` in the config names those that are not", "freeze: value"},
    {"any optimizer", "lr_mult param_groups layer_decay", "write learning_rate_multipliers, factors by variable", "optimizer: {SGD: {learning_rate: 0.1, learning_rate_multipliers: {value: 0.1}}}"},
    // costs
    {"cost", "CrossEntropyLoss CrossEntropy categorical_crossentropy sparse_categorical_crossentropy SoftmaxWithLoss SoftmaxLoss NLLLoss softmax_cross_entropy_with_logits LabelSmoothingCrossEntropy", "use SoftmaxCrossEntropy: {logits: ..., labels: ...}, with the scores before a softmax, and class numbers as labels", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"cost", "BCELoss BCEWithLogitsLoss binary_crossentropy BinaryCrossEntropy SigmoidCrossEntropyLoss sigmoid_cross_entropy_with_logits MultiLabelSoftMarginLoss logistic log_loss", "use SigmoidCrossEntropy: {logits: ..., labels: ...}, with the scores before a sigmoid", "cost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"cost", "MSELoss MSE L2Loss", "use MeanSquaredError: {predictions: ..., targets: ...}", "cost: [MeanSquaredError: {predictions: prediction, targets: label}]"},
    {"cost", "EuclideanLoss", "use MeanSquaredError; its mean is over samples and elements, so the same cost has `weight`: half of the elements of a sample, such as weight: 0.5 for one", "cost: [MeanSquaredError: {predictions: prediction, targets: label, weight: 0.5}]"},
    {"cost", "L1Loss MAE MAELoss", "use MeanAbsoluteError: {predictions: ..., targets: ...}", "cost: [MeanAbsoluteError: {predictions: prediction, targets: label}]"},
    {"cost", "SmoothL1Loss SmoothL1 HuberLoss", "use Huber: {predictions: ..., targets: ...}", "cost: [Huber: {predictions: prediction, targets: label}]"},
    {"cost", "BinaryFocalCrossentropy sigmoid_focal_loss", "not available; the nearest are FocalLoss, for one of several classes, and SigmoidCrossEntropy with sample_weights", "cost: [FocalLoss: {logits: logits, labels: label}]"},
    {"cost", "CategoricalFocalCrossentropy", "use FocalLoss: {logits: ..., labels: ...}, with the scores before a softmax, and class numbers as labels", "cost: [FocalLoss: {logits: logits, labels: label}]"},
    {"cost", "Hinge HingeLoss MultiMarginLoss KLDivLoss KLDivergence PoissonNLLLoss Poisson LogCosh DiceLoss TripletLoss TripletMarginLoss ContrastiveLoss CosineSimilarity CosineEmbeddingLoss CTCLoss", "not available; the cost Expression takes a formula of outputs with one value per sample", "cost: [Expression: \"max(1 - prediction, 0)\"]"},
    {"cost", "L1 L2 WeightDecay KernelRegularizer", "use Regularize: {l2: 1.0e-4} or {l1: 1.0e-4}, next to another cost", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l1: 1.0e-4}]"},
    {"cost SigmoidCrossEntropy", "label_smoothing", "labels may be probabilities: make them in a layer, such as Elementwise: {name: smooth, input: label, expression: 0.9 * x + 0.05}, and write labels: smooth", "ends: Elementwise: {name: smooth, input: label, expression: 0.9 * (x > 4) + 0.05}\ncost: [SigmoidCrossEntropy: {logits: prediction, labels: smooth}]"},
    {"cost SigmoidCrossEntropy", "pos_weight positive_weight scale_pos_weight", "for one output per sample, make weights in a layer, such as Elementwise: {name: w, input: label, expression: 1 + (P - 1) * x} with the number P = pos_weight, and write sample_weights: w", "ends: Elementwise: {name: yes, input: label, expression: x > 4}, Elementwise: {name: w, input: yes, expression: 1 + (3 - 1) * x}\ncost: [SigmoidCrossEntropy: {logits: prediction, labels: yes, sample_weights: w}]"},
    {"any cost", "label_smoothing smoothing", "not available for this cost; Regularize: {l2: 1.0e-4} also keeps the scores small", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"any cost", "class_weight class_weights pos_weight alpha", "make weights of the samples in a layer, such as Elementwise: {name: w, input: label, expression: 1 + 4 * (x == 3)}, and write sample_weights: w", "ends: Elementwise: {name: w, input: label, expression: 1 + 4 * (x == 3)}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: label, sample_weights: w}]"},
    {"any cost", "loss_weight coefficient factor lambda", "did you mean 'weight'?", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label, weight: 0.5}]"},
    {"any cost", "sample_weight weights", "did you mean 'sample_weights'?", "ends: Elementwise: {name: w, input: label, expression: 1 + 0.1 * x}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: label, sample_weights: w}]"},
    {"any cost", "reduction reduce size_average", "a term is the mean over the samples; leave it out", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"any cost", "from_logits", "logits are always scores before a softmax or sigmoid; leave it out", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"any cost", "ignore_index ignore_label mask", "not available; leave such samples out of the data", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"cost SoftmaxCrossEntropy|cost FocalLoss|cost SigmoidCrossEntropy|metric Accuracy|metric F1|metric InTopK|metric ClassificationError|metric MultiLabelAccuracy|metric Precision|metric Recall", "input inputs pred preds predictions prediction scores y_pred output outputs bottom x", "did you mean 'logits'?", "metrics: [Accuracy: {logits: logits, labels: label}]"},
    {"cost SoftmaxCrossEntropy|cost FocalLoss|cost SigmoidCrossEntropy|metric Accuracy|metric F1|metric InTopK|metric ClassificationError|metric MultiLabelAccuracy|metric Precision|metric Recall", "target targets y y_true ground_truth truth", "did you mean 'labels'?", "metrics: [Accuracy: {logits: logits, labels: label}]"},
    {"cost MeanSquaredError|cost MeanAbsoluteError|cost Huber|metric MeanSquaredError|metric MeanAbsoluteError|metric R2", "input inputs logits y_pred output outputs x", "did you mean 'predictions'?", "cost: [MeanSquaredError: {predictions: prediction, targets: label}]"},
    {"cost MeanSquaredError|cost MeanAbsoluteError|cost Huber|metric MeanSquaredError|metric MeanAbsoluteError|metric R2", "label labels y y_true ground_truth truth", "did you mean 'targets'?", "cost: [MeanSquaredError: {predictions: prediction, targets: label}]"},
    // metrics
    {"metric", "AUC AUROC ROCAUC roc_auc_score AUPRC AveragePrecision", "not available; `tpack infer --format csv` writes the scores for other tools; the nearest are Precision and Recall, for outputs of SigmoidCrossEntropy (two classes: units: 1)", "metrics: [Precision: {logits: logits, labels: 1}, Recall: {logits: logits, labels: 1}]"},
    {"metric", "F1Score f1_score MulticlassF1Score", "use F1: {logits: ..., labels: ...}, for one of several classes; for outputs of SigmoidCrossEntropy, name Precision and Recall, whose harmonic mean it is", "metrics: [F1: {logits: logits, labels: label}, Precision: {logits: logits, labels: 1}, Recall: {logits: logits, labels: 1}]"},
    {"metric", "FBeta FBetaScore", "not available; the nearest is F1, for one of several classes; for outputs of SigmoidCrossEntropy, name Precision and Recall", "metrics: [F1: {logits: logits, labels: label}, Precision: {logits: logits, labels: 1}, Recall: {logits: logits, labels: 1}]"},
    {"metric", "TopKAccuracy TopKCategoricalAccuracy SparseTopKCategoricalAccuracy Top5 Top5Accuracy acc5", "use InTopK: {logits: ..., labels: ..., k: 5}", "metrics: [InTopK: {logits: logits, labels: label, k: 5}]"},
    {"metric", "CategoricalAccuracy SparseCategoricalAccuracy MulticlassAccuracy acc top1", "use Accuracy: {logits: ..., labels: ...}", "metrics: [Accuracy: {logits: logits, labels: label}]"},
    {"metric", "BinaryAccuracy", "use MultiLabelAccuracy: {logits: ..., labels: ...}, for the outputs of SigmoidCrossEntropy", "metrics: [MultiLabelAccuracy: {logits: logits, labels: 1}]"},
    {"metric", "MAE L1", "use MeanAbsoluteError: {predictions: ..., targets: ...}", "metrics: [MeanAbsoluteError: {predictions: prediction, targets: label}]"},
    {"metric", "MSE RMSE RootMeanSquaredError", "use MeanSquaredError: {predictions: ..., targets: ...}; RMSE is its square root", "metrics: [MeanSquaredError: {predictions: prediction, targets: label}]"},
    {"metric", "loss", "the cost is reported without a metric, as `cost` and FLOW_cost", "metrics: []"},
    {"metric", "ConfusionMatrix MeanIoU IoU JaccardIndex Dice mAP CohenKappa MatthewsCorrCoef Perplexity BLEU Specificity", "not available; `tpack infer --format csv` writes the predictions for other tools", "metrics: [Accuracy: {logits: logits, labels: label}]"},
    // layers
    {"layer", "Flatten", "FullyConnected flattens its input; elsewhere, write Reshape: {shape: [-1]}", "layers: Reshape: {shape: [-1]}"},
    {"layer", "InnerProduct Linear Dense", "use FullyConnected: {units: 10}; as an activation, leave it out", "layers: FullyConnected: {units: 8}"},
    {"layer", "none", "no activation is the default; leave it out", "layers: FullyConnected: {units: 8}"},
    {"layer", "Convolution Convolution2D Conv", "use Conv2D: {filters: 32, kernel: 3}", "layers: Conv2D: {filters: 4, kernel: 3}"},
    {"layer", "Deconvolution ConvTranspose", "use Conv2DTranspose: {filters: 32, kernel: 4, stride: 2}", "layers: Conv2DTranspose: {filters: 2, kernel: 4, stride: 2}"},
    {"layer", "DepthwiseConv2D DepthwiseConv", "use Conv2D with `groups`, the number of its input channels", "layers: Conv2D: {filters: 4, kernel: 3}, Conv2D: {filters: 4, kernel: 3, groups: 4}"},
    {"layer", "SeparableConv2D SeparableConv", "use two of Conv2D: one with `groups`, the number of its input channels, then one with kernel: 1", "layers: Conv2D: {filters: 4, kernel: 3}, Conv2D: {filters: 4, kernel: 3, groups: 4}, Conv2D: {filters: 8, kernel: 1}"},
    {"layer", "Conv1D Convolution1D TemporalConv", "use Conv2D with kernel: [1, 3] on images of one row: Reshape: {shape: [channels, 1, length]}", "layers: Reshape: {shape: [1, 1, 784]}, Conv2D: {filters: 4, kernel: [1, 3]}"},
    {"layer", "Conv3D MaxPool3d AvgPool3d", "not available; layers for images have two dimensions, and further ones may be channels of Conv2D", "layers: Conv2D: {filters: 4, kernel: 3}"},
    {"layer", "Pooling", "use MaxPooling: {window: 2} or AvgPooling", "layers: MaxPooling: {window: 2}, AvgPooling: {window: 2}"},
    {"layer", "AdaptiveAvgPool AdaptiveAvgPool2d", "use GlobalAvgPooling, which gives one number per channel", "layers: Conv2D: {filters: 4}, GlobalAvgPooling"},
    {"layer", "AdaptiveMaxPool2d GlobalMaxPooling GlobalMaxPooling2D GlobalMaxPool2D", "use ReduceMax: {axes: [2, 3]}", "layers: Conv2D: {filters: 4}, ReduceMax: {axes: [2, 3]}"},
    {"layer", "UpSampling2D Upsample Upsampling Interpolate PixelShuffle ResizeBilinear", "use Conv2DTranspose: {filters: ..., kernel: 4, stride: 2}, which learns to make images larger", "layers: Conv2DTranspose: {filters: 1, kernel: 4, stride: 2}"},
    {"layer", "ZeroPadding2D ZeroPad2d ZeroPadding ReflectionPad2d ConstantPad2d", "use Pad: {image: [1, 1, 1, 1]}, which pads with zeros", "layers: Pad: {image: [1, 1, 1, 1]}"},
    {"layer", "Sequential ModuleList", "write its layers one after the other in `layers`", "layers: FullyConnected: {units: 8, activation: ReLU}"},
    {"layer", "Input InputLayer Data ImageData Placeholder", "inputs are in model.inputs, not in `layers`", "inputs: {image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"layer", "QuickGELU", "write Elementwise: x * sigmoid(1.702 * x)", "layers: FullyConnected: {units: 8, activation: {Elementwise: x * sigmoid(1.702 * x)}}"},
    {"layer", "PReLU RReLU", "not available; the nearest is LeakyReLU, with a fixed slope", "layers: FullyConnected: {units: 8}, LeakyReLU: {alpha: 0.25}"},
    {"layer", "Activation", "write the activation itself as a layer, such as ReLU", "layers: FullyConnected: {units: 8}, ReLU"},
    {"layer", "Rescaling ToFloat Standardize", "use Normalize: {scale: ..., offset: ...}", "layers: Normalize: {scale: 0.0078, offset: -1}"},
    {"layer", "Dropout2d SpatialDropout SpatialDropout2D AlphaDropout DropPath StochasticDepth DropBlock", "not available; the nearest is Dropout, which drops single elements", "layers: Dropout: {rate: 0.2}"},
    {"layer", "GaussianNoise", "use the augmentor GaussianNoise, which is off where a model predicts", "maps: AugmentImageComponent: [GaussianNoise]"},
    {"layer", "GroupNorm GroupNormalization WeightNorm SpectralNorm RMSNorm", "not available; the nearest are LayerNorm and InstanceNorm", "layers: Conv2D: {filters: 4}, LayerNorm"},
    {"layer", "LRN LocalResponseNorm", "not available; use BatchNorm, or leave it out", "layers: Conv2D: {filters: 4}, BatchNorm"},
    {"layer", "Multiply Mul Subtract Divide Average Maximum Minimum Eltwise", "write Elementwise: {input: a, expression: x * b}, or Add: {input: [a, b]} for a sum", "layers: Normalize: {name: a}, Tanh: {name: b}, Elementwise: {input: a, expression: x * b}"},
    {"layer", "Lambda Function", "write a formula, Elementwise: x * 2", "layers: Elementwise: x * 2"},
    {"layer", "Permute", "use Transpose: {order: [0, 2, 3, 1]}; 0 is the batch", "layers: Transpose: {order: [0, 2, 3, 1]}"},
    {"layer", "Crop Cropping2D Narrow", "use Slice, once for each axis", "layers: Slice: {axis: 2, begin: 0, end: 8}"},
    {"layer", "Chunk Unstack Unbind", "use Split: {name: part, parts: 2}; its values are part.0 and part.1", "layers: Split: {name: part, axis: 2, parts: 2}, FullyConnected: {input: part.0, units: 8}"},
    {"layer", "Unsqueeze Squeeze ExpandDims", "use Reshape, which changes axes of size 1", "layers: Reshape: {shape: [1, 1, 784]}"},
    {"layer", "LSTM GRU RNN SimpleRNN Bidirectional LSTMCell GRUCell ConvLSTM2D TimeDistributed", "recurrent layers are not available yet; the nearest for sequences of fixed length is Conv2D with kernel: [1, 3] on Reshape: {shape: [channels, 1, length]}", "layers: Reshape: {shape: [1, 1, 784]}, Conv2D: {filters: 4, kernel: [1, 3]}"},
    {"layer", "Attention MultiHeadAttention MultiheadAttention SelfAttention Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder ViT PositionalEncoding", "attention layers are not available yet; the nearest is FullyConnected, over a whole sample", "layers: FullyConnected: {units: 8, activation: ReLU}"},
    {"layer", "ResNet ResNet18 ResNet50 VGG VGG16 MobileNet EfficientNet UNet", "include one of the files in `models/`, or write its layers", "layers: Conv2D: {filters: 4}, Residual: {layers: [{Conv2D: {filters: 4}}]}"},
    {"layer Conv2D|layer Conv2DTranspose", "out_channels num_output channels num_filters output_channels filters_out nf", "did you mean 'filters'?", "layers: Conv2D: {filters: 4}"},
    {"layer Conv2D|layer Conv2DTranspose", "kernel_size size ksize k kernel_shape", "did you mean 'kernel'?", "layers: Conv2D: {filters: 4, kernel: 5}"},
    {"layer Conv2D|layer Conv2DTranspose|layer MaxPooling|layer AvgPooling", "pad pads padding_mode", "write padding: 1, as PyTorch counts it; `padding` is also same, valid, or [[top, bottom], [left, right]]", "layers: Conv2D: {filters: 4, padding: 1}"},
    {"layer MaxPooling|layer AvgPooling", "kernel kernel_size pool_size size ksize", "did you mean 'window'?", "layers: MaxPooling: {window: 2}"},
    {"layer FullyConnected", "out_features num_output output_dim out_dim output_size size nodes hidden", "did you mean 'units'?", "layers: FullyConnected: {units: 8}"},
    {"layer Embedding", "num_embeddings input_dim vocab_size num_classes", "did you mean 'entries'?", "layers: Embedding: {name: e, input: label, entries: 10, units: 4}"},
    {"layer Embedding", "embedding_dim output_dim dim size", "did you mean 'units'?", "layers: Embedding: {name: e, input: label, entries: 10, units: 4}"},
    {"layer Dropout", "p prob drop_prob dropout dropout_rate dropout_ratio", "did you mean 'rate'?", "layers: Dropout: {rate: 0.2}"},
    {"layer Dropout", "keep_prob keep_rate", "write rate: 1 - keep_prob, the share to drop", "layers: Dropout: {rate: 0.2}"},
    {"layer Normalize", "mean std stddev variance", "write scale: 1 / std and offset: -mean / std, the same for all channels; pixels are 0 to 255", "layers: Normalize: {scale: 0.0171, offset: -2.118}"},
    {"layer BatchNorm", "affine", "write center and scale", "layers: BatchNorm: {center: false, scale: false}"},
    {"layer BatchNorm", "decay", "did you mean 'momentum'?", "layers: BatchNorm: {momentum: 0.99}"},
    {"layer LeakyReLU", "negative_slope slope", "did you mean 'alpha'?", "layers: LeakyReLU: {alpha: 0.2}"},
    {"layer Concat", "dim", "did you mean 'axis'?", "layers: Normalize: {name: a}, Tanh: {name: b}, Concat: {axis: 1, input: [a, b]}"},
    {"layer Reshape", "target_shape size dims", "did you mean 'shape'?", "layers: Reshape: {shape: [-1]}"},
    {"any layer", "in_channels in_features input_dim input_shape input_size num_features num_channels normalized_shape", "sizes of inputs follow from the layer before; leave it out", "layers: Conv2D: {filters: 4}, BatchNorm"},
    {"any layer", "data_format channel_order", "images are [channels, height, width] in all layers; leave it out", "layers: Conv2D: {filters: 4}"},
    {"any layer", "kernel_regularizer bias_regularizer activity_regularizer regularizer weight_decay weight_regularizer", "add the cost Regularize: {l2: 1.0e-4}", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"any layer", "weight_filler weight_initializer weight_init init", "did you mean 'kernel_initializer'?", "layers: FullyConnected: {units: 10, kernel_initializer: {Normal: {stddev: 0.01}}}"},
    {"any layer", "output_padding", "padding: same gives stride times the size of the input; leave it out", "layers: Conv2DTranspose: {filters: 1, kernel: 4, stride: 2, padding: same}"},
    {"any layer", "trainable requires_grad lr_mult freeze frozen param", "name the layer in `freeze` of the config", "freeze: value"},
    {"any layer", "bottom inputs from", "did you mean 'input'?", "layers: Normalize: {name: a}, FullyConnected: {units: 10, input: a}"},
    {"any layer", "top id layer_name", "did you mean 'name'?", "layers: Normalize: {name: a}"},
    // initializers
    {"initializer", "glorot_uniform xavier xavier_uniform", "use VarianceScaling: {scale: 1, mode: fan_average, distribution: uniform}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {scale: 1, mode: fan_average, distribution: uniform}}}"},
    {"initializer", "glorot_normal xavier_normal", "use VarianceScaling: {scale: 1, mode: fan_average, distribution: normal}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {scale: 1, mode: fan_average, distribution: normal}}}"},
    {"initializer", "he_normal kaiming kaiming_normal msra he", "use VarianceScaling: {scale: 2, mode: fan_in, distribution: normal}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {scale: 2, mode: fan_in, distribution: normal}}}"},
    {"initializer", "he_uniform kaiming_uniform", "use VarianceScaling: {scale: 2, mode: fan_in, distribution: uniform}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {scale: 2, mode: fan_in, distribution: uniform}}}"},
    {"initializer", "lecun_normal lecun", "use VarianceScaling: {scale: 1, mode: fan_in, distribution: truncated_normal}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {scale: 1, mode: fan_in, distribution: truncated_normal}}}"},
    {"initializer", "random_normal normal_ gaussian truncated_normal", "use Normal: {stddev: 0.05}", "layers: FullyConnected: {units: 10, kernel_initializer: {Normal: {stddev: 0.05}}}"},
    {"initializer", "zeros ones zero one", "use Constant: 0 or Constant: 1", "layers: FullyConnected: {units: 10, bias_initializer: {Constant: 1}}"},
    {"initializer", "random_uniform uniform orthogonal identity", "not available; the nearest is VarianceScaling: {distribution: uniform}", "layers: FullyConnected: {units: 10, kernel_initializer: {VarianceScaling: {distribution: uniform}}}"},
    // callbacks
    {"callback", "ModelCheckpoint Checkpoint Checkpointer BackupAndRestore Snapshot SaveModel", "use ModelSaver, which saves after each epoch, and MaxSaver or MinSaver for the best model", "callbacks: [ModelSaver, InferenceRunner: {data: validation}, MinSaver: {monitor: validation_cost}]"},
    {"callback", "EarlyStopping", "use EarlyStop: {monitor: ..., patience: 5}", "callbacks: [EarlyStop: {monitor: cost, patience: 5}]"},
    {"callback", "ReduceLROnPlateau", "use StatMonitorParamSetter: {param: learning_rate, monitor: validation_cost, value: old * 0.1, threshold: 0, last_k: 10}", "callbacks: [InferenceRunner: {data: validation}, StatMonitorParamSetter: {param: learning_rate, monitor: validation_cost, value: old * 0.1, threshold: 0, last_k: 10}]"},
    {"callback", "CosineAnnealingLR CosineAnnealing CosineDecay CosineLR CosineLRScheduler CosineAnnealingWarmRestarts", "write a schedule as the learning rate: learning_rate: {Cosine: {start: 0.1, end: 0}}; restarts have `period` and `period_factor`", "optimizer: {SGD: {learning_rate: {Cosine: {start: 0.1, end: 0, period: 1, period_factor: 2}}}}"},
    {"callback", "StepLR MultiStepLR PiecewiseConstantDecay StepDecay", "write a schedule as the learning rate: learning_rate: {Piecewise: {values: [[0, 0.1], [30, 0.01], [60, 0.001]]}}", "optimizer: {SGD: {learning_rate: {Piecewise: {values: [[0, 0.1], [30, 0.01], [60, 0.001]]}}}}"},
    {"callback", "OneCycleLR OneCycle CyclicLR WarmUp LinearWarmup LinearLR GradualWarmupScheduler WarmupLR", "write a schedule as the learning rate, such as learning_rate: {OneCycle: {peak: 0.1}} or learning_rate: {Linear: {start: 0.1, end: 0, warmup: 5}}", "optimizer: {SGD: {learning_rate: {OneCycle: {peak: 0.1}}}}"},
    {"callback", "ExponentialLR ExponentialDecay LambdaLR LearningRateScheduler LRScheduler", "use HyperParamSetterWithFunc: {param: learning_rate, value: old * 0.95}", "callbacks: [HyperParamSetterWithFunc: {param: learning_rate, value: old * 0.95}]"},
    {"callback", "PolynomialLR PolyLR PolynomialDecay", "use HyperParamSetterWithFunc: {param: learning_rate, value: \"0.1 * pow(1 - epoch / max_epoch, 0.9)\"}", "callbacks: [HyperParamSetterWithFunc: {param: learning_rate, value: \"0.1 * pow(1 - epoch / max_epoch, 0.9)\"}]"},
    {"callback", "LearningRateMonitor LRMonitor LogLearningRate", "use HyperParamSummary", "callbacks: [HyperParamSummary]"},
    {"callback", "LRFinder", "use LearningRateFinder: {from: 1.0e-6, to: 1}", "callbacks: [LearningRateFinder: {from: 1.0e-6, to: 1, steps: 5}]"},
    {"callback", "CSVLogger JSONLogger TensorBoardLogger TensorBoardCallback", "these are in `monitors`, such as CSV, JSONWriter and TensorBoard", "monitors: [CSV, JSONWriter, TensorBoard]"},
    {"callback", "WandbLogger WandbCallback MLFlowLogger NeptuneLogger CometLogger RemoteMonitor", "not available; the monitor SendMonitorData runs any program with the statistics", "monitors: [SendMonitorData: {command: [echo, \"{epoch}: {cost}\"]}]"},
    {"callback", "EMA ExponentialMovingAverage ModelEMA ModelEmaV2", "not available; the nearest is SWA, which averages the weights of epochs", "callbacks: [SWA: {start_epoch: 1}]"},
    {"callback", "TerminateOnNaN DetectAnomaly", "use CheckNumerics", "callbacks: [CheckNumerics]"},
    {"callback", "Evaluate Evaluator EvalCallback Validation ValidationCallback Evaluation", "use InferenceRunner: {data: validation}", "callbacks: [InferenceRunner: {data: validation}]"},
    {"callback", "GradientClipping ClipGradients GradientClipper", "write it in the optimizer, gradient: [{GlobalNormClip: 1}]", "optimizer: {Adam: {gradient: [{GlobalNormClip: 1}]}}"},
    {"callback", "GradientAccumulation GradientAccumulationScheduler", "write trainer: {SyncMultiGPU: {devices: 1, accumulate: 2}}", "trainer: {SyncMultiGPU: {devices: 1, accumulate: 2}}"},
    {"callback", "LambdaCallback", "not available; RunCommand runs a program after each epoch", "callbacks: [RunCommand: {command: [echo, \"epoch {epoch}\"]}]"},
    {"callback", "Timer", "use EstimatedTimeLeft", "callbacks: [EstimatedTimeLeft]"},
    {"callback EarlyStop", "restore_best_weights", "MinSaver or MaxSaver keeps the best model", "callbacks: [MinSaver: {monitor: cost}, EarlyStop: {monitor: cost}]"},
    {"callback EarlyStop|callback StatMonitorParamSetter", "verbose baseline strict check_finite cooldown", "not available; leave it out", "callbacks: [EarlyStop: {monitor: cost}]"},
    {"callback EarlyStop", "start_from_epoch min_epochs", "wrap it, EnableIf: {callback: {EarlyStop: ...}, condition: epoch > 10}", "callbacks: [EnableIf: {callback: {EarlyStop: {monitor: cost}}, condition: epoch > 10}]"},
    {"callback StatMonitorParamSetter", "factor gamma", "write value: old * 0.1", "callbacks: [StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: old * 0.1, threshold: 0, last_k: 5}]"},
    {"callback StatMonitorParamSetter", "min_lr", "write value: \"max(old * 0.1, 1.0e-6)\"", "callbacks: [StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: \"max(old * 0.1, 1.0e-6)\", threshold: 0, last_k: 5}]"},
    {"callback StatMonitorParamSetter", "patience", "did you mean 'last_k'?", "callbacks: [StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: old * 0.1, threshold: 0, last_k: 5}]"},
    {"callback ModelSaver", "save_best_only save_top_k monitor", "MinSaver and MaxSaver save the best model", "callbacks: [ModelSaver, MinSaver: {monitor: cost}]"},
    {"callback ModelSaver", "max_to_keep save_total_limit keep_last", "did you mean 'keep'?", "callbacks: [ModelSaver: {keep: 2}]"},
    {"callback ModelSaver", "period save_freq every_n_epochs save_period", "did you mean 'every_epochs'?", "callbacks: [ModelSaver: {every_epochs: 2}]"},
    {"callback ModelSaver", "filepath dirpath dir folder filename file path save_dir", "checkpoints go to the folder of the run, which `tpack train --log-dir` names", "callbacks: [ModelSaver]"},
    {"callback MaxSaver|callback MinSaver", "mode save_top_k save_best_only", "MaxSaver keeps the largest, MinSaver the smallest; leave it out", "callbacks: [MinSaver: {monitor: cost}]"},
    {"callback InferenceRunner", "flow dataset dataloader dataflow", "did you mean 'data'?", "callbacks: [InferenceRunner: {data: validation}]"},
    // monitors and trainers
    {"monitor", "wandb WandbLogger mlflow MLFlowLogger neptune comet", "not available; SendMonitorData runs any program with the statistics", "monitors: [SendMonitorData: {command: [echo, \"{epoch}: {cost}\"]}]"},
    {"monitor", "TensorBoardLogger CSVLogger JSONLogger", "use TensorBoard, CSV or JSONWriter", "monitors: [TensorBoard, CSV, JSONWriter]"},
    {"trainer", "gpu cuda tpu mps cpu", "tpack runs on processors: Simple trains on one device, SyncMultiGPU: {devices: 2} on several", "trainer: {SyncMultiGPU: {devices: 2}}"},
    {"trainer", "DataParallel DistributedDataParallel MirroredStrategy ddp dp fsdp deepspeed MultiWorkerMirroredStrategy", "use SyncMultiGPU for devices of one machine, or Horovod and `tpack train --procs N` for processes", "trainer: {SyncMultiGPU: {devices: 2}}"},
    {"trainer", "Trainer Lightning max_epochs max_epoch epochs accelerator devices callbacks precision strategy Supervised", "max_epoch and callbacks are keys of the config itself; the trainer is Simple unless there are several devices", "max_epoch: 3\ntrainer: Simple"},
    {"trainer", "GAN GANTrainer QLearning", "write `updates`, which names what each step trains", "trainer: Simple"},
    {"trainer SyncMultiGPU", "gpus num_gpus n_gpus num_devices num_towers", "did you mean 'devices'?", "trainer: {SyncMultiGPU: {devices: 2}}"},
    {"trainer SyncMultiGPU", "accumulate_grad_batches gradient_accumulation_steps iter_size", "did you mean 'accumulate'?", "trainer: {SyncMultiGPU: {devices: 1, accumulate: 2}}"},
    // the config
    {"the config", "epochs num_epochs max_epochs n_epochs num_train_epochs", "did you mean 'max_epoch'?", "max_epoch: 3"},
    {"the config", "max_steps iterations max_iter max_iters num_steps total_steps train_steps num_iterations", "write max_epoch and steps_per_epoch", "max_epoch: 3\nsteps_per_epoch: 10"},
    {"the config", "batch_size batch bs train_batch_size", "write it in the flow, BatchData: {batch_size: 32}", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 32}]"},
    {"the config", "num_workers workers", "write it in the flow, train: {flow: [...], workers: 2}", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}], workers: 2}"},
    {"the config", "shuffle", "it is a key of a source, such as ImageFolder: {dir: ..., shuffle: true}", "train: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}, shuffle: true}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"the config", "learning_rate lr base_lr init_lr momentum", "it is a key of the optimizer", "optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}"},
    {"the config", "weight_decay wd l2", "use the optimizer AdamW, or add the cost Regularize: {l2: 1.0e-4}", "optimizer: {AdamW: {weight_decay: 0.01}}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"the config", "loss losses criterion cost objective", "write it in `model`, cost: [SoftmaxCrossEntropy: {...}]", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"the config", "metrics metric", "write them in `model`, metrics: [Accuracy: {...}]", "metrics: [Accuracy: {logits: logits, labels: label}]"},
    {"the config", "layers layer network net architecture backbone arch module", "write the layers in `model`, layers: [...]", "layers: FullyConnected: {units: 8}"},
    {"the config", "inputs input_shape", "write them in `model`, inputs: {image: {shape: [28, 28, 1]}}", "inputs: {image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"the config", "num_classes nc classes n_classes", "the number of classes is `units` of the last FullyConnected", "layers: FullyConnected: {units: 8}"},
    {"the config", "scheduler lr_scheduler lr_schedule lr_policy schedule warmup warmup_epochs lr_config", "write a schedule as the learning rate, such as learning_rate: {Linear: {start: 0.1, end: 0, warmup: 5}}", "optimizer: {SGD: {learning_rate: {Linear: {start: 0.1, end: 0, warmup: 5}}}}"},
    {"the config", "patience early_stopping early_stop", "add the callback EarlyStop: {monitor: ..., patience: 5}", "callbacks: [EarlyStop: {monitor: cost, patience: 5}]"},
    {"the config", "checkpoint_callback snapshot save_steps save_period save_every checkpoint_every save_freq checkpoint_period", "add the callback ModelSaver: {every_epochs: 1}", "callbacks: [ModelSaver: {every_epochs: 1}]"},
    {"the config", "test_iter test_interval eval_steps eval_interval evaluation check_val_every_n_epoch val_check_interval validation_freq", "add the callback InferenceRunner: {data: validation}", "callbacks: [InferenceRunner: {data: validation}]"},
    {"the config", "device devices gpu gpus cuda accelerator num_gpus strategy distributed solver_mode", "trainer: {SyncMultiGPU: {devices: 2}} trains on several devices, which are processors today", "trainer: {SyncMultiGPU: {devices: 2}}"},
    {"the config", "precision amp fp16 bf16 mixed_precision half", "not available; engine: {dtype: float32} is the type of all weights", "engine: {dtype: float32}"},
    {"the config", "threads num_threads backend dtype deterministic benchmark", "it belongs to `engine`", "engine: {threads: 1}"},
    {"the config", "imgsz image_size img_size input_size crop_size target_size", "resize in the flow, AugmentImageComponent: [Resize: 28], and write the size in model.inputs", "maps: AugmentImageComponent: [Resize: 28]"},
    {"the config", "transforms transform augmentation augmentations augment augmentors data_augmentation hflip mosaic mixup", "augmentors are part of a flow, AugmentImageComponent: [RandomCrop: 24, Flip]", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, Flip]"},
    {"the config", "random_seed manual_seed random_state seed_everything rng_seed", "did you mean 'seed'?", "seed: 3"},
    {"the config", "train val validation test train_data val_data validation_data test_data train_dataset val_dataset datasets dataset dataloader data_loader train_dataloader", "flows are in `data`, data: {train: [...], validation: [...]}", "validation: [RenderedDigits: {split: test, size: 8}, BatchData: {batch_size: 4}]"},
    {"the config", "logger loggers logging tensorboard wandb", "write monitors: [CSV, TensorBoard]", "monitors: [CSV, TensorBoard]"},
    {"the config", "log_dir logdir output_dir save_dir work_dir out_dir default_root_dir project experiment run_name", "the run's folder is `name`, or that of `tpack train --log-dir FOLDER`", "name: other"},
    {"the config", "resume resume_from resume_from_checkpoint ckpt_path auto_resume", "it is an option, `tpack train CONFIG --resume auto`", "name: other"},
    {"the config", "pretrained pretrained_path checkpoint weights load_from load_weights init_checkpoint finetune initial_weights", "write init: {from: FILE}, a checkpoint of tpack", "init: {from: model.h5}"},
    {"the config", "class_weight class_weights", "make weights of the samples in a layer, such as Elementwise: {name: w, input: label, expression: 1 + 4 * (x == 3)}, and write sample_weights: w in the cost", "ends: Elementwise: {name: w, input: label, expression: 1 + 4 * (x == 3)}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: label, sample_weights: w}]"},
    {"the config", "gradient_clip_val gradient_clip grad_clip clip_norm clip_gradients max_grad_norm clip_grad_norm", "write it in the optimizer, gradient: [{GlobalNormClip: 1}]", "optimizer: {Adam: {gradient: [{GlobalNormClip: 1}]}}"},
    {"the config", "accumulate_grad_batches gradient_accumulation_steps iter_size accumulate", "write trainer: {SyncMultiGPU: {devices: 1, accumulate: 2}}", "trainer: {SyncMultiGPU: {devices: 1, accumulate: 2}}"},
    {"the config", "verbose progress_bar enable_progress_bar log_every_n_steps log_interval display", "the progress is shown without it; `tpack --quiet train` shows less", "name: other"},
    {"the config", "label_smoothing dropout pos_weight", "it is a setting of a layer or of a cost in `model`; `tpack describe NAME` lists theirs", "layers: Dropout: {rate: 0.2}"},
    // model, inputs
    {"model", "loss losses criterion objective", "did you mean 'cost'?", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"model", "optimizer max_epoch epochs callbacks data train trainer init freeze predict name seed", "it is a key of the config itself, not of `model`", "max_epoch: 3\noptimizer: {SGD: {learning_rate: 0.1}}"},
    {"model", "outputs output heads head", "costs and predict.outputs name outputs of layers; leave it out", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]"},
    {"model", "num_classes nc classes n_classes", "the number of classes is `units` of the last FullyConnected", "layers: FullyConnected: {units: 8}"},
    {"model", "input_shape input_size image_size", "did you mean 'inputs'?", "inputs: {image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"model", "type arch architecture backbone encoder class pretrained network modules body", "write its layers in `layers`, or include one of the files in `models/`", "layers: FullyConnected: {units: 8}"},
    {"model", "activation initializer kernel_initializer use_bias dropout", "write it in a layer, or for all layers of a type in `defaults`", "modelextra: defaults: {FullyConnected: {use_bias: false}}"},
    {"model", "regularizer weight_decay kernel_regularizer l2", "add the cost Regularize: {l2: 1.0e-4}", "cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}, Regularize: {l2: 1.0e-4}]"},
    {"any input", "size dim dims input_shape", "did you mean 'shape'?", "inputs: {image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"any input", "data_format format channel_order channels_last channels_first", "did you mean 'layout'?", "inputs: {image: {shape: [28, 28, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"any input", "batch_size batch", "the batch size is in the flow, BatchData: {batch_size: 32}", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 32}]"},
    {"any input", "mean std scale normalize", "the layer Normalize: {scale: ..., offset: ...} comes first in `layers`", "layers: Normalize: {scale: 0.0078, offset: -1}"},
    // flows
    {"the flow", "batch_size batch", "put BatchData: {batch_size: 32} last in `flow`", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 32}]}"},
    {"the flow", "num_workers num_proc threads num_parallel_calls", "did you mean 'workers'?", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}], workers: 2}"},
    {"the flow", "shuffle", "it is a key of the source", "train: {flow: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}, shuffle: true}, BatchData: {batch_size: 2}]}\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"the flow", "drop_last drop_remainder", "BatchData drops the last, smaller batch unless it has remainder: true", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4, remainder: true}]}"},
    {"the flow", "prefetch_factor prefetch_buffer", "did you mean 'prefetch'?", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}], prefetch: 2}"},
    {"the flow", "pin_memory persistent_workers cache sampler collate_fn timeout", "not needed; leave it out", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}]}"},
    {"the flow", "transforms transform augment augmentors", "put AugmentImageComponent: [RandomCrop: 24, Flip] after the source in `flow`", "train: {flow: [RenderedDigits: {size: 40}, AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, Flip], BatchData: {batch_size: 4}]}"},
    {"the flow", "path dir root file source dataset type name", "put the source first in `flow`, such as ImageFolder: {dir: photos}", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}]}"},
    {"stage BatchData", "shuffle", "it is a key of the source, before the batches", "train: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}, shuffle: true}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"stage BatchData", "drop_last drop_remainder drop_smaller_batch", "BatchData drops the last, smaller batch unless it has remainder: true", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4, remainder: true}]"},
    {"stage BatchData", "num_workers workers pin_memory prefetch num_proc", "write it for the whole flow, train: {flow: [...], workers: 2}", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}], workers: 2}"},
    {"stage BatchData", "size n bs", "did you mean 'batch_size'?", "maps: "},
    {"any source", "batch_size batch", "put BatchData: {batch_size: 32} after it", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 32}]"},
    {"any source", "num_workers workers pin_memory", "write it for the whole flow, train: {flow: [...], workers: 2}", "train: {flow: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4}], workers: 2}"},
    {"any source", "drop_last drop_remainder", "BatchData drops the last, smaller batch unless it has remainder: true", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 4, remainder: true}]"},
    {"any source", "transform transforms augment augmentors", "put AugmentImageComponent: [RandomCrop: 24, Flip] after it", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, Flip]"},
    {"any source", "image_size target_size img_size resize imgsz", "put AugmentImageComponent: [Resize: 224] after it", "maps: AugmentImageComponent: [Resize: 28]"},
    {"any source", "train is_train training", "write split: train or split: test", "maps: "},
    {"any source", "download", "tpack downloads nothing; get the files first, and leave it out", "maps: "},
    {"any source", "seed random_state", "the order follows from `seed` of the config", "seed: 3"},
    {"any source", "validation_split val_split subset test_size", "not available; put the files for validation into a folder or file of their own", "validation: [RenderedDigits: {split: test, size: 8}, BatchData: {batch_size: 4}]"},
    {"source ImageFolder|source Mnist|source FashionMnist", "root path data_dir directory folder data_path file", "did you mean 'dir'?", "train: [ImageFolder: {dir: photos}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"source ImageFolder|source ImageList", "color_mode mode grayscale channels", "did you mean 'color'?", "train: [ImageFolder: {dir: photos, color: gray}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]"},
    {"source ImageFolder", "class_mode label_mode labels classes class_names", "classes are the names of the folders in `dir`; leave it out", "train: [ImageFolder: {dir: photos, color: gray}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]"},
    {"source CSV|source Npz|source HDF5", "path filename filepath csv filepath_or_buffer dir root", "did you mean 'file'?", "train: [Npz: {file: numbers.npy}, BatchData: {batch_size: 2}]\ninputs: {numbers: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"source CSV", "sep separator", "did you mean 'delimiter'?", "train: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}, delimiter: \",\"}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"source CSV", "target targets y label_column label_columns class_column output", "write labels: {label: COLUMN} for classes, columns: {y: COLUMN} for numbers", "train: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"source CSV", "features feature_columns x usecols inputs select_columns", "write columns: {x: [a, b]}", "train: [CSV: {file: table.csv, columns: {x: [a, b]}, labels: {label: y}}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [2]}, label: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}"},
    {"source CSV", "na_values na_value fillna fill_value", "did you mean 'missing'?", "train: [CSV: {file: table.csv, columns: {x: a}, labels: {label: y}, missing: 0}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: []}, label: {shape: [], dtype: int32}}\nlayers: Reshape: {shape: [1]}"},
    {"source ImageList", "source list filename filepath dataframe csv", "did you mean 'file'?", "train: [ImageList: photos.txt, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"source ImageList", "root_folder directory image_dir img_dir dir folder path_root", "did you mean 'root'?", "train: [ImageList: {file: photos.txt, root: .}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"source ImageList", "x_col path_column", "did you mean 'path'?", "train: [ImageList: {file: photos.csv, path: photo, labels: {label: kind}}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"source ImageList", "y_col label class_mode target targets y", "write labels: {label: COLUMN} for classes, columns: {y: COLUMN} for numbers", "train: [ImageList: {file: photos.csv, path: photo, labels: {label: kind}}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"source SVMLight", "path filename filepath data root dir", "did you mean 'file'?", "train: [SVMLight: numbers.svm, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\nmetrics: [Accuracy: {logits: logits, labels: y}]"},
    {"source SVMLight", "n_features num_features dim dimension data_shape", "did you mean 'features'?", "train: [SVMLight: {file: numbers.svm, features: 3}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\nmetrics: [Accuracy: {logits: logits, labels: y}]"},
    {"source SVMLight", "multilabel labels label label_type", "write targets: class, number or set", "train: [SVMLight: {file: numbers.svm, targets: class}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\nmetrics: [Accuracy: {logits: logits, labels: y}]"},
    {"source Npz", "keys arr_names x y", "did you mean 'arrays'?", "train: [Npz: {file: numbers.npy, arrays: {x: numbers}}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"source HDF5", "keys datasets data_paths x y", "did you mean 'arrays'?", "train: [HDF5: {file: numbers.h5, arrays: {x: numbers}}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"component of a flow", "DataLoader Loader DataModule", "use BatchData: {batch_size: 32}", "train: [RenderedDigits: {size: 40}, BatchData: {batch_size: 32}]"},
    {"component of a flow", "Shuffle ShuffleData RandomSampler", "sources shuffle by default (shuffle: true); leave it out", "maps: "},
    {"component of a flow", "CIFAR CIFAR10 CIFAR100 SVHN STL10 ImageNet COCO CelebA Caltech101 ImageDataGenerator ImageDataset image_dataset_from_directory flow_from_directory DatasetFolder FolderDataset ImageFolderDataset", "use ImageFolder: {dir: ...}, which reads DIR/CLASS/NAME.jpg and .png", "train: [ImageFolder: {dir: photos, color: gray}, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]"},
    {"component of a flow", "TensorDataset from_tensor_slices Numpy NumpyArray ArrayDataset MemoryData", "use Npz: {file: data.npz}", "train: [Npz: {file: numbers.npy}, BatchData: {batch_size: 2}]\ninputs: {numbers: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"component of a flow", "HDF5Data HDF5Dataset HDF5Serializer H5 H5py", "use HDF5: {file: data.h5}", "train: [HDF5: numbers.h5, BatchData: {batch_size: 2}]\ninputs: {numbers: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"component of a flow", "TFRecord TFRecordDataset TFRecordData Parquet Pickle WebDataset MatFile Excel", "not available; save the data as .npz for Npz, or as text for CSV", "train: [Npz: {file: numbers.npy}, BatchData: {batch_size: 2}]\ninputs: {numbers: {shape: [2]}}\nlayers: FullyConnected: {units: 8}\ncost: [SigmoidCrossEntropy: {logits: logits, labels: 1}]"},
    {"component of a flow", "LibSVM LIBSVMIter SparseText load_svmlight_file", "use SVMLight: {file: ...}", "train: [SVMLight: numbers.svm, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}\ncost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\nmetrics: [Accuracy: {logits: logits, labels: y}]"},
    {"component of a flow", "ImageData ImageDataLayer ImageRecordIter ImageFileList ImageListDataset flow_from_dataframe ImageCSV", "use ImageList: {file: train.txt}, or {file: train.csv, path: COLUMN, labels: {label: COLUMN}}", "train: [ImageList: photos.txt, AugmentImageComponent: [Resize: 28], BatchData: {batch_size: 2}]\ninputs: {image: {shape: [28, 28, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"component of a flow", "DataFrame Pandas Table Tabular TextLoader", "use CSV: {file: ..., columns: {x: [a, b]}, labels: {label: y}}", "train: [CSV: {file: table.csv, columns: {x: [a, b]}, labels: {label: y}}, BatchData: {batch_size: 2}]\ninputs: {x: {shape: [2]}, label: {shape: [], dtype: int32}}\nlayers: FullyConnected: {units: 8}"},
    {"component of a flow|augmentor|tensor map", "ToTensor PILToTensor ToImage ToDtype ToArray", "not needed; the layer Normalize makes floats of the pixels", "layers: FullyConnected: {units: 8}"},
    {"component of a flow", "StandardScaler Normalization FeaturewiseNormalization", "use Standardize: image, whose means are those of data.train", "maps: Standardize: image\ninputs: {image: {shape: [28, 28, 1], layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"augmentor", "Standardize", "put the layer Normalize: {scale: ..., offset: ...} first in model.layers", "layers: Normalize: {scale: 0.0171, offset: -2.118}"},
    {"component of a flow|augmentor", "Normalize Rescale", "put the layer Normalize: {scale: ..., offset: ...} first in model.layers", "layers: Normalize: {scale: 0.0171, offset: -2.118}"},
    {"component of a flow|augmentor", "MixUp CutMix Mosaic", "not available, as labels are class numbers; the nearest are the augmentors RandomCrop, Brightness and Contrast", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, Brightness: 30, Contrast: [0.8, 1.2]]"},
    {"component of a flow", "Compose Transforms Augmentation Augment AugmentImage", "use AugmentImageComponent: [RandomCrop: 24, Flip]", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, Flip]"},
    {"component of a flow", "RandomHorizontalFlip HorizontalFlip RandomVerticalFlip RandomFlip", "use AugmentImageComponent: [Flip: {direction: horizontal}]", "maps: AugmentImageComponent: [Flip: {direction: horizontal}]"},
    {"component of a flow", "Repeat Cache", "an epoch begins a new pass by itself; leave it out", "maps: "},
    // augmentors
    {"augmentor", "RandomResizedCrop RandomResizedCropAndInterpolation RandomSizedCrop", "not available; the nearest is ResizeShortestEdge: 256, then RandomCrop: 224", "maps: AugmentImageComponent: [ResizeShortestEdge: 32, RandomCrop: 28]"},
    {"augmentor", "RandomHorizontalFlip HorizontalFlip RandomFlip Fliplr hflip", "use Flip: {direction: horizontal}", "maps: AugmentImageComponent: [Flip: {direction: horizontal}]"},
    {"augmentor", "RandomVerticalFlip VerticalFlip Flipud vflip", "use Flip: {direction: vertical}", "maps: AugmentImageComponent: [Flip: {direction: vertical}]"},
    {"augmentor", "ColorJitter RandomBrightnessContrast", "use Brightness: 30 and Contrast: [0.8, 1.2]", "maps: AugmentImageComponent: [Brightness: 30, Contrast: [0.8, 1.2]]"},
    {"augmentor", "Cutout CoarseDropout", "use RandomErasing, which fills a random rectangle", "maps: AugmentImageComponent: [RandomErasing: {area: [0.05, 0.05], ratio: [1, 1]}]"},
    {"augmentor", "RandomRotation Rotate RandomRotate RandomAffine Affine ShiftScaleRotate RandomPerspective RandAugment AutoAugment TrivialAugment TrivialAugmentWide AugMix GaussianBlur Blur ElasticTransform RandomZoom RandomTranslation", "not available; the nearest are RandomCrop, Flip, Brightness, Contrast and GaussianNoise", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: 28, GaussianNoise]"},
    {"augmentor", "Pad ZeroPad PadIfNeeded", "use CenterPaste: {background_shape: ...}, the size of the whole image", "maps: AugmentImageComponent: [CenterPaste: {background_shape: 36}, RandomCrop: 28]"},
    {"augmentor", "Compose Sequential OneOf", "write its augmentors one after the other in the list", "maps: AugmentImageComponent: [Flip, Brightness: 30]"},
    {"augmentor", "Cast Scale OneHot ToFloat", "it is for numbers: write MapData: {component: ..., map: {Cast: float32}} in the flow", "maps: MapData: {component: label, map: {Cast: int32}}"},
    {"augmentor Resize", "size width height output_size target_size", "did you mean 'shape'?", "maps: AugmentImageComponent: [Resize: {shape: [28, 28]}]"},
    {"augmentor RandomCrop|augmentor CenterCrop", "size width height output_size shape crop_size", "did you mean 'crop_shape'?", "maps: AugmentImageComponent: [CenterPaste: 32, RandomCrop: {crop_shape: 28}]"},
    {"augmentor RandomCrop|augmentor CenterCrop", "padding pad pad_if_needed", "put CenterPaste: {background_shape: ...} before it, the size with the padding", "maps: AugmentImageComponent: [CenterPaste: {background_shape: 36}, RandomCrop: 28]"},
    {"augmentor CenterPaste", "size shape width height output_size", "did you mean 'background_shape'?", "maps: AugmentImageComponent: [CenterPaste: {background_shape: 28}]"},
    {"augmentor Flip|augmentor RandomApplyAug|augmentor RandomErasing", "p probability", "did you mean 'prob'?", "maps: AugmentImageComponent: [Flip: {prob: 0.5}]"},
    {"augmentor RandomErasing", "scale", "did you mean 'area'?", "maps: AugmentImageComponent: [RandomErasing: {area: [0.02, 0.33]}]"},
    {"augmentor Flip", "horizontal vertical horiz vert mode", "write direction: horizontal or direction: vertical", "maps: AugmentImageComponent: [Flip: {direction: vertical}]"},
    {"map AugmentImageComponent", "augs aug transforms transform augmentations", "did you mean 'augmentors'?", "maps: AugmentImageComponent: {augmentors: [Flip]}"},
    {"map MapData|stage MultiThreadMapData", "func fn function map_func", "did you mean 'map'?", "maps: MapData: {component: label, map: {Cast: int32}}"},
    {"map AugmentImageComponent|map MapData|stage MultiThreadMapData", "index key column input field", "did you mean 'component'?", "maps: MapData: {component: label, map: {Cast: int32}}"},
    {"tensor map", "ToFloat astype Lambda", "use Cast: float32, or Scale: {scale: ..., offset: ...}", "maps: MapData: {component: label, map: {Cast: int32}}"},
    {"tensor map", "Normalize Rescale Standardize", "use Scale: {scale: ..., offset: ...}", "maps: MapData: {component: image, map: {Scale: {scale: 0.1}}}\ninputs: {image: {shape: [28, 28, 1], layout: HWC}, label: {shape: [], dtype: int32}}"},
    {"tensor map", "RandomCrop Flip Resize CenterCrop Brightness", "it is an augmentor: write AugmentImageComponent: [Flip] in the flow", "maps: AugmentImageComponent: [Flip]"},
});
// clang-format on

std::string folded_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// "layer Conv2D" is that place, and one of "any layer".
bool is_at(std::string_view listed, std::string_view place) {
  constexpr std::string_view kAny = "any ";
  if (listed == place) return true;
  if (!listed.starts_with(kAny)) return false;
  listed.remove_prefix(kAny.size());
  return place.size() > listed.size() && place.starts_with(listed) && place[listed.size()] == ' ';
}

bool is_one_of(std::string_view words, const std::string& folded) {
  const std::vector<std::string> all = split(words, ' ');
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return folded_word(one) == folded; });
}

}  // namespace

std::span<const OtherWords> other_words() { return kWords; }

std::string advice_on(std::string_view place, std::string_view word) {
  const std::string folded = folded_word(word);
  for (const OtherWords& row : kWords) {
    const std::vector<std::string> places = split(row.places, '|');
    const auto here = [place](const std::string& one) { return is_at(one, place); };
    if (std::any_of(places.begin(), places.end(), here) && is_one_of(row.words, folded))
      return "; " + std::string(row.advice);
  }
  return "";
}

}  // namespace tpack
