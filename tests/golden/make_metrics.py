#!/usr/bin/env python3
"""Makes metrics.json: metrics of small sets, each by its definition, in plain loops. With --check: compares the file instead.

Where scikit-learn is installed, its values must be the same, but for those that it does not define."""
import math
import warnings

from golden import finish  # first: it says what is missing
from philox import uniform

try:
    import numpy
    from sklearn import metrics as sklearn
    from sklearn import neighbors as sklearn_neighbors
except ImportError:
    sklearn = None

CLASSES = 4
CASES = []


def grid(key, count, steps, low=-2.0, high=2.0):
    """Numbers of a key that are multiples of (high - low) / steps: exact in float32 for powers of 2. Few steps make ties."""
    return [low + (high - low) * math.floor(u * steps) / steps for u in uniform(f"metrics/{key}", count)]


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def classes_of(key, count, below=CLASSES):
    return [math.floor(u * below) for u in uniform(f"metrics/{key}", count)]


def tensor(values, *shape):
    return {"shape": list(shape), "values": values}


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def case(name, inputs, values):
    """Values that are no number are null."""
    CASES.append({"name": name, "inputs": inputs,
                  "values": {yaml: [float(value)] if math.isfinite(value) else None for yaml, value in values.items()}})


def checked(value, theirs):
    """The value, which scikit-learn's is, too. `theirs`: gives it, or nothing where scikit-learn defines none."""
    if sklearn is not None and theirs is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = theirs()
        same = math.isnan(value) and math.isnan(other) or abs(value - other) <= 1e-12 * max(1, abs(value))
        assert same, f"{value}, but scikit-learn has {other}"
    return value


# One of several classes

def ratio(right, predicted, actual, of_predicted, of_actual):
    named = of_predicted * predicted + of_actual * actual
    return (of_predicted + of_actual) * right / named if named else 0.0


def class_ratio(predicted, actual, average, weights):
    counts = [(sum(p == t == k for p, t in zip(predicted, actual)), predicted.count(k), actual.count(k)) for k in range(CLASSES)]
    if isinstance(average, int):
        return ratio(*counts[average], *weights)
    if average == "micro":
        return ratio(*map(sum, zip(*counts)), *weights)
    found = [(ratio(*c, *weights), c[2] if average == "weighted" else 1) for c in counts if c[1] + c[2]]
    return sum(value * weight for value, weight in found) / sum(weight for _, weight in found)


def jaccard(predicted, actual, average):
    counts = [(sum(p == t == k for p, t in zip(predicted, actual)), predicted.count(k), actual.count(k)) for k in range(CLASSES)]

    def share(right, of_predicted, of_actual):
        return right / (of_predicted + of_actual - right) if of_predicted + of_actual else 0
    if isinstance(average, int):
        return share(*counts[average])
    if average == "micro":
        return share(*map(sum, zip(*counts)))
    found = [(share(*c), c[2] if average == "weighted" else 1) for c in counts if c[1] + c[2]]
    return sum(value * weight for value, weight in found) / sum(weight for _, weight in found)


def balanced_accuracy(predicted, actual):
    return mean(mean(p == t for p, t in zip(predicted, actual) if t == k) for k in sorted(set(actual)))


def matthews_correlation(predicted, actual):
    """The covariance of the indicators of all classes over the root of the product of their variances."""
    n = len(actual)

    def covariance(x, y):
        total = 0
        for k in range(CLASSES):
            of_x, of_y = [v == k for v in x], [v == k for v in y]
            total += sum((a - sum(of_x) / n) * (b - sum(of_y) / n) for a, b in zip(of_x, of_y))
        return total
    if len(set(predicted)) == 1 or len(set(actual)) == 1:
        return 0.0
    return covariance(predicted, actual) / math.sqrt(covariance(predicted, predicted) * covariance(actual, actual))


def cohen_kappa(predicted, actual, power):
    """`power`: of the distance; 0: any wrong class counts 1."""
    observed = mean((abs(p - t) ** power if power else p != t) for p, t in zip(predicted, actual))
    by_chance = mean((abs(p - t) ** power if power else p != t) for p in predicted for t in actual)
    return 1 - observed / by_chance if by_chance else math.nan


# Rankings

def area_under_roc(scores, labels):
    """Over all pairs of a yes and a no."""
    yes = [s for s, label in zip(scores, labels) if label]
    no = [s for s, label in zip(scores, labels) if not label]
    return mean(1.0 if a > b else 0.5 if a == b else 0.0 for a in yes for b in no)


def average_precision(scores, labels):
    """The mean over the yes of the precision among the scores that are not lower."""
    yes = [s for s, label in zip(scores, labels) if label]
    return mean(sum(s >= lowest for s in yes) / sum(s >= lowest for s in scores) for lowest in yes) if yes else 0.0


def log_odds(row):
    """Of the softmax of each class: equal if the probabilities are."""
    best = max(row)
    odds = []
    for k, score in enumerate(row):
        others = [s for i, s in enumerate(row) if i != k]
        odds.append(score - best - math.log(math.fsum(math.exp(s - best) for s in others)))
    return odds


def average_of(measure, columns, average):
    """Of columns of (scores, labels); those without a yes, or without a figure, are left out."""
    if isinstance(average, int):
        return measure(*columns[average])
    if average == "micro":
        return measure(*(sum(parts, []) for parts in zip(*columns)))
    found = [(measure(*c), sum(c[1]) if average == "weighted" else 1) for c in columns if any(c[1])]
    found = [one for one in found if not math.isnan(one[0])]
    weight = sum(weight for _, weight in found)
    if not weight:
        return 0.0 if measure is average_precision else math.nan
    return sum(value * weight for value, weight in found) / weight


def ranking_values(columns, probabilities=None, labels=None):
    """`probabilities`: of classes that all have samples; scikit-learn then averages itself."""
    values = {}
    kinds = ["macro", "weighted", "micro"] + ([1] if len(columns) > 1 else [])
    for metric, measure, name in (("AUC", area_under_roc, "roc_auc_score"), ("AveragePrecision", average_precision, "average_precision_score")):
        for scores, of_column in columns:
            checked(measure(scores, of_column), lambda: getattr(sklearn, name)(of_column, scores))
        for average in kinds:
            key = "class" if isinstance(average, int) else "average"
            value = average_of(measure, columns, average)
            if probabilities and key == "average":
                more = {"multi_class": "ovr"} if metric == "AUC" else {}
                checked(value, lambda: getattr(sklearn, name)(labels, numpy.array(probabilities), average=average, **more))
            values[f"{metric}: {{logits: logits, labels: label, {key}: {average}}}"] = value
    return values


# Probabilities

def brier(rows_of_probabilities, rows_of_facts):
    return mean(sum((p - y) ** 2 for p, y in zip(*both)) for both in zip(rows_of_probabilities, rows_of_facts))


def calibration_error(confidences, right, bins):
    """Over the bins (b / bins, (b + 1) / bins]."""
    total = 0
    for b in range(bins):
        inside = [(p, y) for p, y in zip(confidences, right) if (b == 0 or p > b / bins) and p <= (b + 1) / bins]
        total += abs(sum(p for p, _ in inside) - sum(y for _, y in inside))
    return total / len(right)


def calibration_values(confidences, right):
    return {f"CalibrationError: {{logits: logits, labels: label{text}}}": calibration_error(confidences, right, bins)
            for bins, text in ((15, ""), (4, ", bins: 4"), (1, ", bins: 1"))}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softmax(row):
    total = sum(math.exp(s) for s in row)
    return [math.exp(s) / total for s in row]


def case_of_answers(name, scores, labels):
    """Rows of scores of outputs, each with its label."""
    columns = [(list(s), list(y)) for s, y in zip(zip(*scores), zip(*labels))]
    outputs = len(columns)
    case(name, {"logits": tensor(sum(scores, []), len(scores), outputs), "label": tensor(sum(labels, []), len(scores), outputs)},
         {**ranking_values(columns), **answer_values([sigmoid(s) for row in scores for s in row], sum(labels, []))})


def answer_values(probabilities, labels):
    value = checked(brier([[p] for p in probabilities], [[y] for y in labels]),
                    lambda: sklearn.brier_score_loss(labels, probabilities, pos_label=1, labels=[0, 1]))
    return {"Brier: {logits: logits, labels: label}": value, **calibration_values(probabilities, labels)}


def class_values(scores, labels):
    predicted = [row.index(max(row)) for row in scores]
    values = {}
    for metric, weights, name, more in (
            ("Precision", (1, 0), "precision_score", {}), ("Recall", (0, 1), "recall_score", {}), ("F1", (1, 1), "f1_score", {}),
            ("FBeta", (1, 4), "fbeta_score", {"beta": 2}), ("FBeta", (1, 0.25), "fbeta_score", {"beta": 0.5})):
        text = "".join(f", {key}: {value}" for key, value in more.items())
        for average in ("micro", "macro", "weighted", 1):
            key = "class" if isinstance(average, int) else "average"
            chosen = {"average": "macro", "labels": [average]} if key == "class" else {"average": average}
            values[f"{metric}: {{logits: logits, labels: label, {key}: {average}{text}}}"] = checked(
                class_ratio(predicted, labels, average, weights),
                lambda: getattr(sklearn, name)(labels, predicted, zero_division=0, **chosen, **more))
    for average in ("micro", "macro", "weighted", 1):
        key = "class" if isinstance(average, int) else "average"
        chosen = {"average": "macro", "labels": [average]} if key == "class" else {"average": average}
        values[f"IoU: {{logits: logits, labels: label, {key}: {average}}}"] = checked(
            jaccard(predicted, labels, average), lambda: sklearn.jaccard_score(labels, predicted, zero_division=0, **chosen))
    given = "logits: logits, labels: label"
    values[f"BalancedAccuracy: {{{given}}}"] = checked(
        balanced_accuracy(predicted, labels), lambda: sklearn.balanced_accuracy_score(labels, predicted))
    values[f"MatthewsCorrelation: {{{given}}}"] = checked(
        matthews_correlation(predicted, labels), lambda: sklearn.matthews_corrcoef(labels, predicted))
    for weights, power in (("none", 0), ("linear", 1), ("quadratic", 2)):
        values[f"CohenKappa: {{{given}, weights: {weights}}}"] = checked(
            cohen_kappa(predicted, labels, power),
            lambda: sklearn.cohen_kappa_score(labels, predicted, labels=range(CLASSES), weights=None if power == 0 else weights))
    odds = [log_odds(row) for row in scores]
    columns = [([row[k] for row in odds], [label == k for label in labels]) for k in range(CLASSES)]
    all_found = len(set(labels)) == CLASSES and len(set(map(tuple, scores))) == len(scores)
    values.update(ranking_values(columns, [softmax(row) for row in scores] if all_found else None, labels))
    probabilities = [softmax(row) for row in scores]
    facts = [[float(label == k) for k in range(CLASSES)] for label in labels]
    values["Brier: {logits: logits, labels: label}"] = checked(
        brier(probabilities, facts), lambda: sklearn.brier_score_loss(labels, numpy.array(probabilities), labels=list(range(CLASSES))))
    values.update(calibration_values([max(row) for row in probabilities], [p == t for p, t in zip(predicted, labels)]))
    return values


def case_of_classes(name, scores, labels):
    flat = [value for row in scores for value in row]
    case(name, {"logits": tensor(flat, len(labels), CLASSES), "label": {**tensor(labels, len(labels)), "dtype": "int32"}},
         class_values(scores, labels))


def one_hot(numbers):
    return [[2.0 if k == number else 0.0 for k in range(CLASSES)] for number in numbers]


def scores_of(key, count, steps=64):
    return rows(grid(key, count * CLASSES, steps), CLASSES)


case_of_classes("classes", scores_of("classes", 37), classes_of("classes/label", 37))
case_of_classes("classes_with_ties", scores_of("ties", 30, 4), classes_of("ties/label", 30))
case_of_classes("class_without_samples", scores_of("missing", 23), classes_of("missing/label", 23, CLASSES - 1))
case_of_classes("class_that_is_never_predicted", one_hot(classes_of("never", 20, CLASSES - 1)), classes_of("never/label", 20))
case_of_classes("labels_of_one_class", scores_of("one_class", 12), [2] * 12)
case_of_classes("one_sample_of_classes", scores_of("one_sample", 1), [1])
case_of_classes("classes_all_right", one_hot([0, 3, 1, 1, 2, 0]), [0, 3, 1, 1, 2, 0])
case_of_classes("classes_all_wrong", one_hot([1, 2, 3, 0]), [0, 1, 2, 3])
case_of_classes("one_class_all_right", one_hot([2, 2, 2]), [2, 2, 2])


def answers(key, *shape, below=2):
    count = math.prod(shape)
    return rows([math.floor(u * below) for u in uniform(f"metrics/{key}", count)], shape[-1])


case_of_answers("answers", rows(grid("answers", 40, 512), 1), answers("answers/label", 40, 1))
case_of_answers("answers_with_ties", rows(grid("answer_ties", 50, 4), 1), answers("answer_ties/label", 50, 1))
case_of_answers("equal_scores", [[0.5]] * 9, answers("equal_scores/label", 9, 1))
case_of_answers("one_answer", [[0.5]], [[1]])
case_of_answers("all_yes", rows(grid("all_yes", 8, 16), 1), [[1]] * 8)
case_of_answers("all_no", rows(grid("all_no", 8, 16), 1), [[0]] * 8)
case_of_answers("answers_of_several_outputs", rows(grid("outputs", 60, 16), 3), answers("outputs/label", 20, 3))
case_of_answers("output_that_is_always_no", rows(grid("never_yes", 24, 16), 2), [[y, 0] for y, in answers("never_yes/label", 12, 1)])


def case_with_ignored(name, scores, labels, ignored):
    """One score for each sample; those whose label is ignored are as if they were not there."""
    kept = [(s, y) for s, y in zip(scores, labels) if y != ignored]
    of, facts = [s for s, _ in kept], [y for _, y in kept]
    said = [int(s > 0) for s in of]
    right, predicted, actual = sum(p and y for p, y in zip(said, facts)), sum(said), sum(facts)
    given = f"logits: logits, labels: label, ignore_label: {ignored}"
    values = {
        f"AUC: {{{given}}}": checked(area_under_roc(of, facts), lambda: sklearn.roc_auc_score(facts, of)),
        f"AveragePrecision: {{{given}}}": checked(average_precision(of, facts), lambda: sklearn.average_precision_score(facts, of)),
        f"MultiLabelAccuracy: {{{given}}}": checked(mean(p == y for p, y in zip(said, facts)), lambda: sklearn.accuracy_score(facts, said)),
        f"IoU: {{{given}, average: binary}}": checked(right / (predicted + actual - right), lambda: sklearn.jaccard_score(facts, said))}
    for metric, average, weights, theirs in (("Precision", "", (1, 0), "precision_score"), ("Recall", "", (0, 1), "recall_score"),
                                             ("F1", ", average: binary", (1, 1), "f1_score")):
        values[f"{metric}: {{{given}{average}}}"] = checked(
            ratio(right, predicted, actual, *weights), lambda: getattr(sklearn, theirs)(facts, said))
    case(name, {"logits": tensor(scores, len(scores), 1), "label": tensor(labels, len(scores), 1)}, values)


def case_with_ignored_classes(name, scores, labels, ignored):
    kept = [(row, y) for row, y in zip(scores, labels) if y != ignored]
    values = class_values([row for row, _ in kept], [y for _, y in kept])
    of_rankings = {yaml.replace("}", f", ignore_label: {ignored}}}"): value for yaml, value in values.items()
                   if yaml.startswith(("AUC", "AveragePrecision", "F1", "IoU"))}
    case(name, {"logits": tensor(sum(scores, []), len(labels), CLASSES), "label": {**tensor(labels, len(labels)), "dtype": "int32"}},
         of_rankings)


case_with_ignored("answers_that_do_not_count", grid("ignored", 60, 64), [y - 1 if y < 3 else 1 for y in classes_of("ignored/label", 60)], -1)
case_with_ignored("yes_that_does_not_count", grid("ignored_yes", 40, 64), [y if y < 2 else 255 for y in classes_of("ignored_yes/label", 40, 3)], 255)
case_with_ignored_classes("classes_that_do_not_count", scores_of("ignored_classes", 40),
                          [y if y < CLASSES else 255 for y in classes_of("ignored_classes/label", 40, CLASSES + 1)], 255)


# Regression

def variance(values):
    center = mean(values)
    return mean((v - center) ** 2 for v in values)


def median(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def explained_variance(predictions, targets):
    of_errors, of_targets = variance([t - p for p, t in zip(predictions, targets)]), variance(targets)
    return 1 - of_errors / of_targets if of_targets else float(of_errors == 0)


def r2(predictions, targets):
    errors, of_targets = mean((t - p) ** 2 for p, t in zip(predictions, targets)), variance(targets)
    return 1 - errors / of_targets if of_targets else float(errors == 0)


def pinball(predictions, targets, quantile):
    return mean(quantile * (t - p) if t >= p else (1 - quantile) * (p - t) for p, t in zip(predictions, targets))


def case_of_numbers(name, predictions, targets):
    """Rows of outputs."""
    outputs = len(targets[0])
    columns = list(zip(zip(*predictions), zip(*targets)))
    flat_predictions, flat_targets = sum(predictions, []), sum(targets, [])
    pairs = list(zip(flat_predictions, flat_targets))
    several = {"multioutput": "uniform_average"}
    values = {
        "RootMeanSquaredError": checked(math.sqrt(mean((p - t) ** 2 for p, t in pairs)),
                                        lambda: sklearn.root_mean_squared_error(flat_targets, flat_predictions)),
        "MeanAbsolutePercentageError": checked(mean(abs(p - t) / max(abs(t), 2.0 ** -52) for p, t in pairs),
                                               lambda: sklearn.mean_absolute_percentage_error(flat_targets, flat_predictions)),
        "MedianAbsoluteError": checked(mean(median([abs(p - t) for p, t in zip(*c)]) for c in columns),
                                       lambda: sklearn.median_absolute_error(targets, predictions, **several)),
        "ExplainedVariance": checked(mean(explained_variance(*c) for c in columns),
                                     lambda: sklearn.explained_variance_score(targets, predictions, **several)),
        "R2": checked(mean(r2(*c) for c in columns),
                      lambda: sklearn.r2_score(targets, predictions, **several) if len(targets) > 1 else r2(*columns[0])),
    }
    values = {f"{metric}: {{predictions: predictions, targets: targets}}": value for metric, value in values.items()}
    for q in (0.5, 0.9):
        values[f"Quantile: {{predictions: predictions, targets: targets, quantile: {q}}}"] = checked(
            pinball(flat_predictions, flat_targets, q), lambda: sklearn.mean_pinball_loss(flat_targets, flat_predictions, alpha=q))
    case(name, {"predictions": tensor(flat_predictions, len(targets), outputs), "targets": tensor(flat_targets, len(targets), outputs)},
         values)


def numbers_of(key, samples, outputs, **more):
    return rows(grid(key, samples * outputs, 256, **more), outputs)


case_of_numbers("numbers", numbers_of("numbers", 31, 1), numbers_of("numbers/target", 31, 1, low=1))
case_of_numbers("numbers_of_several_outputs", numbers_of("several", 18, 3), numbers_of("several/target", 18, 3, low=1))
case_of_numbers("one_number", [[1.5]], [[2.0]])
case_of_numbers("equal_targets", numbers_of("equal", 9, 1), [[0.75]] * 9)
case_of_numbers("exact_numbers", numbers_of("exact", 8, 1, low=1), numbers_of("exact", 8, 1, low=1))
case_of_numbers("errors_that_are_all_equal", [[v + 0.5 for v in row] for row in numbers_of("shifted", 8, 1, low=1)],
                numbers_of("shifted", 8, 1, low=1))
case_of_numbers("numbers_far_from_0", numbers_of("far", 16, 1, low=100, high=104), numbers_of("far/target", 16, 1, low=100, high=104))


# Retrieval

def recall_at(k, distances, labels):
    """`distances`: of each pair. Of ties, those of other classes come first."""
    hits = []
    for i, row in enumerate(distances):
        others = [j for j in range(len(labels)) if j != i]
        if not any(labels[j] == labels[i] for j in others):
            continue
        nearest = sorted(others, key=lambda j: (row[j], labels[j] == labels[i]))[:k]
        hits.append(any(labels[j] == labels[i] for j in nearest))
    return mean(hits) if len(labels) > k else math.nan


def of_nearest(k, metric, embeddings, labels):
    """The same by scikit-learn's search, for distances without ties."""
    search = sklearn_neighbors.NearestNeighbors(n_neighbors=k + 1, metric=metric, algorithm="brute").fit(embeddings)
    found = search.kneighbors(embeddings, return_distance=False)
    hits = [any(labels[j] == labels[i] for j in [j for j in near if j != i][:k])
            for i, near in enumerate(found) if labels.count(labels[i]) > 1]
    return float(numpy.mean(hits))


def case_of_embeddings(name, embeddings, labels, has_ties=False):
    values = {}
    for metric in ("euclidean",) if has_ties else ("cosine", "euclidean"):
        def distance(x, y):
            if metric == "euclidean":
                return sum((a - b) ** 2 for a, b in zip(x, y))
            return -sum(a * b for a, b in zip(x, y)) / math.hypot(*x) / math.hypot(*y)
        distances = [[distance(x, y) for y in embeddings] for x in embeddings]
        for k in (1, 3, 8):
            known = not has_ties and len(labels) > k and any(labels.count(label) > 1 for label in labels)
            values[f"RecallAtK: {{embeddings: x, labels: y, k: {k}, distance: {metric}}}"] = checked(
                recall_at(k, distances, labels), (lambda: of_nearest(k, metric, embeddings, labels)) if known else None)
    case(name, {"x": tensor(sum(embeddings, []), len(labels), len(embeddings[0])), "y": {**tensor(labels, len(labels)), "dtype": "int32"}},
         values)


case_of_embeddings("embeddings", rows(grid("embeddings", 40 * 3, 4096), 3), classes_of("embeddings/label", 40, 6))
case_of_embeddings("embeddings_of_many_classes", rows(grid("many_classes", 30 * 4, 4096), 4), classes_of("many_classes/label", 30, 20))
case_of_embeddings("embeddings_with_ties", rows(grid("near_ties", 36 * 2, 4), 2), classes_of("near_ties/label", 36), has_ties=True)
case_of_embeddings("embeddings_that_are_all_equal", [[1.0, 0.5]] * 9, classes_of("all_equal/label", 9, 2), has_ties=True)
case_of_embeddings("embeddings_of_one_class", rows(grid("one_class_of", 10 * 2, 512), 2), [1] * 10)
case_of_embeddings("embeddings_without_a_pair", rows(grid("no_pair", 9 * 2, 512), 2), list(range(9)))

finish("metrics.json", {"cases": CASES})
