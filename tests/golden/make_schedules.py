#!/usr/bin/env python3
"""Makes schedules.json: learning rates of the steps of a run as PyTorch's schedulers set them. With --check: compares the file instead."""
from golden import finish  # first: it says what is missing

import torch
from torch.optim import lr_scheduler

STEPS_PER_EPOCH = 4
MAX_EPOCH = 5
STEPS = STEPS_PER_EPOCH * MAX_EPOCH


def rates_of(covers, yaml, rate, make, per_epoch=False):
    """One case: `make` returns the scheduler of an optimizer with this learning rate, which is stepped after each step, or each epoch."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], rate)
    scheduler = make(optimizer)
    rates = []
    for step in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if not per_epoch or (step + 1) % STEPS_PER_EPOCH == 0:
            scheduler.step()
    return {"covers": covers, "yaml": yaml, "values": rates}


def function(of_step):
    """A scheduler that multiplies the rate by a function of the step."""
    return lambda optimizer: lr_scheduler.LambdaLR(optimizer, of_step)


CASES = [
    rates_of("Constant", "Constant: 0.1", 0.1, function(lambda step: 1)),
    rates_of("Constant", "Constant: {value: 0.1, warmup: {steps: 6}}", 0.1, function(lambda step: min(1, (step + 1) / 6))),
    rates_of("Constant", "Constant: {value: 0.1, warmup: 3, warmup_start: 0.01, by: epoch}", 0.1,
             function(lambda epoch: 0.1 + 0.9 * min(1, (epoch + 1) / 3)), per_epoch=True),
    rates_of("Piecewise", "Piecewise: {values: [[0, 0.1], [2, 0.01], [4, 0.001]]}", 0.1,
             lambda o: lr_scheduler.MultiStepLR(o, [2, 4]), per_epoch=True),
    rates_of("Piecewise", "Piecewise: {values: [[0, 0.1], [10, 0.02]], interp: linear, step_based: true}", 0.1,
             lambda o: lr_scheduler.LinearLR(o, 1, 0.2, 10)),
    rates_of("Linear", "Linear: {start: 0.1, end: 0.02}", 0.1, lambda o: lr_scheduler.LinearLR(o, 1, 0.2, STEPS)),
    rates_of("Linear", "Linear: {start: 0.1, end: 0.02, length: 3}", 0.1,
             lambda o: lr_scheduler.LinearLR(o, 1, 0.2, 3 * STEPS_PER_EPOCH)),
    rates_of("Polynomial", "Polynomial: {start: 0.1}", 0.1, lambda o: lr_scheduler.PolynomialLR(o, STEPS, 0.9)),
    rates_of("Polynomial", "Polynomial: {start: 0.1, power: 2, by: epoch}", 0.1,
             lambda o: lr_scheduler.PolynomialLR(o, MAX_EPOCH, 2), per_epoch=True),
    rates_of("Exponential", "Exponential: {start: 0.1, factor: 0.7, by: epoch}", 0.1,
             lambda o: lr_scheduler.ExponentialLR(o, 0.7), per_epoch=True),
    rates_of("Exponential", "Exponential: {start: 0.1, factor: 0.9, every: {steps: 1}}", 0.1,
             lambda o: lr_scheduler.ExponentialLR(o, 0.9)),
    rates_of("Exponential", "Exponential: {start: 0.1, every: 2, staircase: true}", 0.1,
             lambda o: lr_scheduler.StepLR(o, 2), per_epoch=True),
    rates_of("OneCycle", "OneCycle: {peak: 0.1}", 0.1,
             lambda o: lr_scheduler.OneCycleLR(o, 0.1, STEPS, cycle_momentum=False)),
    rates_of("OneCycle", "OneCycle: {peak: 0.1, rise: 10, fall: 1000, up: 0.5}", 0.1,
             lambda o: lr_scheduler.OneCycleLR(o, 0.1, STEPS, pct_start=0.5, div_factor=10, final_div_factor=100,
                                               cycle_momentum=False)),
    rates_of("InverseSqrt", "InverseSqrt: {peak: 0.1, warmup: {steps: 4}}", 0.1,
             function(lambda step: min((step + 1) / 4, (4 / max(step, 4)) ** 0.5))),
    rates_of("Formula", "Formula: \"0.1 * pow(0.5, epoch / 2) if step < 10 else 0.01 * (1 - progress)\"", 0.1,
             function(lambda step: 0.5 ** (step / STEPS_PER_EPOCH / 2) if step < 10 else 0.1 * (1 - step / STEPS))),
    rates_of("Cosine", "Cosine: {start: 0.1}", 0.1, lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS)),
    rates_of("Cosine", "Cosine: {start: 0.1, end: 0.02, by: epoch}", 0.1,
             lambda o: lr_scheduler.CosineAnnealingLR(o, MAX_EPOCH, 0.02), per_epoch=True),
    rates_of("Cosine", "Cosine: {start: 0.1, period: {steps: 6}}", 0.1,
             lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 6)),
    rates_of("Cosine", "Cosine: {start: 0.1, end: 0.02, period: 0.75, period_factor: 2}", 0.1,
             lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2, 0.02)),
    rates_of("Cosine", "Cosine: {start: 0.1, period: 1, period_factor: 3, by: epoch}", 0.1,
             lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 1, 3), per_epoch=True),
]
finish("schedules.json", {"steps_per_epoch": STEPS_PER_EPOCH, "max_epoch": MAX_EPOCH, "cases": CASES})
