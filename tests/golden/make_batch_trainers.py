#!/usr/bin/env python3
"""Makes batch_trainers.json: what KMeans and PCA find, in double precision. Run with --check to compare instead of writing."""
import torch

from golden import draw, finish, numbers, summary

SAMPLES, FEATURES, BATCH = 120, 6, 12


def rows(key):
    """Samples around (50, 50, ...), each feature in a quarter of the range of the one before; all are float32."""
    spread = torch.tensor([4.0**-feature for feature in range(FEATURES)], dtype=torch.float64) * 64
    shifted = draw(key, numbers(SAMPLES, FEATURES)) * spread + 50
    return shifted.to(torch.float32).to(torch.float64)


def pca():
    x = rows("pca/rows")
    components = 3
    values, vectors = torch.linalg.eigh(torch.cov(x.T))
    values, vectors = values.flip(0), vectors.flip(1).T[:components]
    largest = vectors.abs().argmax(dim=1)
    vectors = vectors * vectors.gather(1, largest[:, None]).sign()
    return {"samples": SAMPLES, "features": FEATURES, "batch": BATCH, "components": components,
            "explained_variance": [float(values[:components].sum() / values.sum())],
            "results": {name: summary(f"pca/{name}", value) for name, value in (
                ("mean", x.mean(dim=0)), ("variances", values[:components]), ("components", vectors))}}


def k_means():
    """Two passes of mini-batch k-means from the first samples as centers, each center the mean of all samples that it has had."""
    x = rows("k_means/rows")
    clusters = 5
    centers = x[:clusters].clone()
    counts = torch.zeros(clusters, dtype=torch.float64)
    distortions = []
    for batch in torch.cat([x, x]).split(BATCH):
        squares = ((batch[:, None, :] - centers[None]) ** 2).sum(dim=2)
        nearest = squares.argmin(dim=1)
        distortions.append(float(squares.min(dim=1).values.mean()))
        for sample, cluster in zip(batch, nearest):
            counts[cluster] += 1
            centers[cluster] += (sample - centers[cluster]) / counts[cluster]
    return {"samples": SAMPLES, "features": FEATURES, "batch": BATCH, "clusters": clusters, "distortion": distortions,
            "results": {"centers": summary("k_means/centers", centers), "counts": summary("k_means/counts", counts)}}


finish("batch_trainers.json", {"pca": pca(), "k_means": k_means()})
