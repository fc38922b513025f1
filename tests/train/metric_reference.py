#!/usr/bin/env python3
"""Writes tests/train/metric_reference.safetensors: inputs of metrics, and their values by other implementations.

    apt-get install python3-sklearn python3-skimage python3-nltk
    tests/train/metric_reference.py tests/train/metric_reference.safetensors

Uses scikit-learn, scikit-image and NLTK where they have the metric; ROUGE-L and MS-SSIM are computed by numpy from the
papers (Lin 2004; Wang, Simoncelli and Bovik 2003). Inputs are random, with ties, of one class, and empty. Tensors of the file:

    in/SET/output, in/SET/targets       a step's output and targets; images as u8, to be divided by 255 in f32
    expected/SET/METRIC                 f64 []; NaN where the metric is not defined
"""
import json
import struct
import sys
import warnings

import numpy as np
from nltk.metrics.distance import edit_distance
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from sklearn import metrics as sk

warnings.simplefilter("ignore")
rng = np.random.default_rng(20)
tensors = {}
PAD = -1


def put(name, array):
    tensors[name] = np.ascontiguousarray(array)


def put_inputs(name, output, targets):
    put(f"in/{name}/output", output)
    put(f"in/{name}/targets", targets)


def expect(name, metric, value):
    put(f"expected/{name}/{metric}", np.float64(value))


def mean_of_defined(values):
    values = [v for v in values if not np.isnan(v)]
    return np.mean(values) if values else np.nan


# --- scores of classes: answers and labels are bool [rows, classes] ---------------------------------------------------
def class_scores(name, suffix, answers, labels):
    n, classes = labels.shape
    def of_classes(score, defined):
        """The scores of the classes, NaN where the denominator is 0 (where scikit-learn returns 0)."""
        if n == 0:
            return [np.nan] * classes
        found = score(labels, answers, average=None, zero_division=0) if classes > 1 else [score(labels[:, 0], answers[:, 0], zero_division=0)]
        return [v if d else np.nan for v, d in zip(found, defined)]
    def both(metric, score, defined, micro_defined):
        expect(name, f"{metric} {suffix} macro", 100 * mean_of_defined(of_classes(score, defined)))
        micro = score(labels.ravel(), answers.ravel(), zero_division=0) if n > 0 and micro_defined else np.nan
        expect(name, f"{metric} {suffix} micro", 100 * micro)
    both("precision", sk.precision_score, answers.any(0), answers.any())
    both("recall", sk.recall_score, labels.any(0), labels.any())
    for beta in (0.5, 1, 2):
        def score(*args, **kwargs):
            return sk.fbeta_score(*args, beta=beta, **kwargs)
        both(f"f{beta}", score, answers.any(0) | labels.any(0), answers.any() or labels.any())


def areas(name, scores, labels):
    n, classes = labels.shape
    def roc(s, l):
        return sk.roc_auc_score(l, s) if len(l) and l.any() and not l.all() else np.nan
    def precision_recall(s, l):
        return sk.average_precision_score(l, s) if len(l) and l.any() else np.nan
    for metric, area in (("auroc", roc), ("auc-pr", precision_recall)):
        expect(name, f"{metric} macro", 100 * mean_of_defined([area(scores[:, c], labels[:, c]) for c in range(classes)]))
        expect(name, f"{metric} micro", 100 * area(scores.ravel(), labels.ravel()))


def top(scores, k):
    """bool: whether a score is among the k highest; of equal ones, the first counts as higher."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    mask = np.zeros(scores.shape, bool)
    np.put_along_axis(mask, order, True, 1)
    return mask


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


def multiclass(name, scores, targets, ks):
    classes = scores.shape[1]
    put_inputs(name, scores, targets.astype(np.int64))
    labels = np.eye(classes, dtype=bool)[targets]
    n = len(targets)
    for k in ks:
        class_scores(name, f"top{k}", top(scores, k), labels)
        found = sk.top_k_accuracy_score(targets, scores, k=k, labels=range(classes)) if n and k < classes else np.nan
        if k > 1 or n == 0:
            expect(name, f"top-{k} accuracy", 100 * found)
    expect(name, "accuracy", 100 * sk.accuracy_score(targets, scores.argmax(1)) if n else np.nan)
    areas(name, scores, labels)
    expect(name, "perplexity", np.exp(sk.log_loss(targets, softmax(scores), labels=range(classes))) if n else np.nan)
    if n:
        put(f"expected/{name}/confusion", sk.confusion_matrix(targets, scores.argmax(1), labels=range(classes)).astype(np.float64))


def multilabel(name, scores, labels):
    put_inputs(name, scores, labels.astype(np.int64))
    answers = scores > 0.5
    class_scores(name, "at 0.5", answers, labels)
    areas(name, scores, labels)
    expect(name, "hamming", 100 * (1 - sk.hamming_loss(labels, answers)) if len(labels) else np.nan)


def binary(name, scores, labels):
    put_inputs(name, scores, labels.astype(np.int64))
    class_scores(name, "at 0.5", scores[:, None] > 0.5, labels[:, None])
    areas(name, scores[:, None], labels[:, None])


def f32(*shape):
    return rng.random(shape).astype(np.float32)


def tied(*shape):
    return (rng.integers(0, 5, shape) / 4).astype(np.float32)


multiclass("multiclass random", 4 * f32(70, 6) - 2, rng.integers(0, 6, 70), (1, 2, 4))
multiclass("multiclass tied", tied(70, 4), rng.integers(0, 4, 70), (1,))
multiclass("multiclass one class", f32(40, 4), np.full(40, 2), (1, 3))
multiclass("multiclass missing class", np.concatenate([f32(50, 3), np.zeros((50, 1), np.float32)], 1), rng.integers(0, 3, 50), (1,))
multiclass("multiclass empty", f32(0, 4), np.zeros(0, np.int64), (1, 2))
multilabel("multilabel random", f32(60, 5), rng.random((60, 5)) < 0.4)
multilabel("multilabel tied", tied(60, 5), rng.random((60, 5)) < 0.4)
multilabel("multilabel one class", f32(30, 3), np.broadcast_to([True, False, False], (30, 3)))
multilabel("multilabel empty", f32(0, 3), np.zeros((0, 3), bool))
for kind, scores in (("random", f32(90)), ("tied", tied(90)), ("equal", np.full(20, 0.5, np.float32))):
    binary(f"binary {kind}", scores, rng.random(len(scores)) < 0.3)
binary("binary no positive", f32(20), np.zeros(20, bool))
binary("binary no negative", f32(20), np.ones(20, bool))
binary("binary empty", f32(0), np.zeros(0, bool))


# --- sequences --------------------------------------------------------------------------------------------------------
def longest_common_subsequence(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = table[i, j] + 1 if x == y else max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def rouge_l(answered, expected):
    if not answered and not expected:
        return 1.0
    common = longest_common_subsequence(answered, expected)
    if common == 0:
        return 0.0
    precision, recall = common / len(answered), common / len(expected)
    return 2 * precision * recall / (precision + recall)


def padded(sequences, width):
    return np.array([s + [PAD] * (width - len(s)) for s in sequences], np.int64).reshape(len(sequences), width)


def sequences(name, answered, expected, orders=(1, 2, 4), smoothed=True):
    put_inputs(name, padded(answered, max(map(len, answered), default=0) + 1), padded(expected, max(map(len, expected), default=0)))
    n, length = len(expected), sum(map(len, expected))
    edits = sum(edit_distance(a, e) for a, e in zip(answered, expected))
    for metric in ("cer", "wer"):
        expect(name, metric, 100 * edits / length if length else np.nan)
    expect(name, "rouge-l", 100 * np.mean([rouge_l(a, e) for a, e in zip(answered, expected)]) if n else np.nan)
    smoothing = SmoothingFunction()
    for order in orders:
        for method, function in (("", None), (" epsilon", smoothing.method1), (" exponential", smoothing.method3)):
            if method and not smoothed:
                continue
            score = corpus_bleu([[e] for e in expected], answered, weights=[1 / order] * order, smoothing_function=function) if n else np.nan
            expect(name, f"bleu-{order}{method}", 100 * score)


def words(count, length, kinds):
    return [rng.integers(0, kinds, rng.integers(4, length + 1)).tolist() for _ in range(count)]


def altered(lines, kinds):
    result = []
    for line in lines:
        line = [t if rng.random() > 0.2 else int(rng.integers(0, kinds)) for t in line]
        if rng.random() < 0.5:
            del line[int(rng.integers(0, len(line)))]
        if rng.random() < 0.5:
            line.insert(int(rng.integers(0, len(line))), int(rng.integers(0, kinds)))
        result.append(line)
    return result


lines = words(25, 12, 9)
sequences("sequences random", words(25, 12, 9), lines)
sequences("sequences alike", altered(lines, 9), lines)
sequences("sequences equal", lines, lines)
sequences("sequences of one token", [[3] * 7, [3] * 4], [[3] * 5, [3] * 6])
sequences("sequences with large tokens", [[2**40 + 1, 2**40, -5, 7, 8]], [[2**40 + 1, 2**40, -5, 8, 7]])
sequences("sequences no match", [[1, 2, 3, 4, 5]], [[6, 7, 8, 9]], smoothed=False)
# NLTK counts an n-gram for each empty answer (its modified_precision() takes at least 1), so BLEU is left out here.
sequences("sequences some empty", [[], [1, 2, 3, 4], []], [[1, 2, 3], [1, 2, 3, 4], []], orders=())
sequences("sequences empty", [], [])


# --- images -----------------------------------------------------------------------------------------------------------
def gaussian(size, sigma):
    x = np.arange(size) - size // 2
    w = np.exp(-x**2 / (2 * sigma**2))
    return w / w.sum()


def local_mean(image, w):
    """The window's weighted means, at all positions where it is within the image."""
    k = len(w)
    columns = sum(w[i] * image[i:image.shape[0] - k + 1 + i] for i in range(k))
    return sum(w[i] * columns[:, i:image.shape[1] - k + 1 + i] for i in range(k))


def ms_ssim(x, y, size, betas, sigma=1.5):
    w, c1, c2 = gaussian(size, sigma), 0.01**2, 0.03**2
    product = 1.0
    for scale, beta in enumerate(betas):
        mx, my = local_mean(x, w), local_mean(y, w)
        vx, vy = local_mean(x * x, w) - mx * mx, local_mean(y * y, w) - my * my
        cov = local_mean(x * y, w) - mx * my
        places = (2 * cov + c2) / (vx + vy + c2)
        if scale == len(betas) - 1:
            places = places * (2 * mx * my + c1) / (mx * mx + my * my + c1)
        product *= max(places.mean(), 0) ** beta
        h, v = x.shape[0] // 2 * 2, x.shape[1] // 2 * 2
        x, y = (i[:h, :v].reshape(h // 2, 2, v // 2, 2).mean((1, 3)) for i in (x, y))
    return product


def psnr(x, y):
    return 100.0 if np.array_equal(x, y) else peak_signal_noise_ratio(y, x, data_range=1)


def images(name, x, y):
    put_inputs(name, x, y)
    x, y = ((i.astype(np.float32) / np.float32(255)).astype(np.float64) for i in (x, y))
    pairs = list(zip(x, y))
    expect(name, "psnr", np.mean([psnr(a, b) for a, b in pairs]) if pairs else np.nan)
    def ssim(a, b):
        return np.mean([structural_similarity(p, q, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=1) for p, q in zip(a, b)])
    expect(name, "ssim", np.mean([ssim(a, b) for a, b in pairs]) if pairs else np.nan)
    expect(name, "ms-ssim", np.mean([np.mean([ms_ssim(p, q, 5, (0.2, 0.3, 0.5)) for p, q in zip(a, b)]) for a, b in pairs]) if pairs else np.nan)


def u8(*shape):
    return rng.integers(0, 256, shape, np.uint8)


def smooth(*shape):
    y, x = np.mgrid[0:shape[2], 0:shape[3]]
    waves = [[np.sin(x / rng.uniform(2, 9) + rng.uniform(0, 6)) + np.cos(y / rng.uniform(2, 9)) for _ in range(shape[1])] for _ in range(shape[0])]
    return (255 * (np.array(waves) + 2) / 4).astype(np.uint8)


base = smooth(3, 2, 24, 28)
noisy = np.clip(base.astype(int) + rng.integers(-20, 21, base.shape), 0, 255).astype(np.uint8)
images("images random", u8(2, 1, 22, 23), u8(2, 1, 22, 23))
images("images alike", noisy, base)
images("images equal", base, base)
images("images of one tone", np.full((1, 1, 20, 20), 90, np.uint8), np.full((1, 1, 20, 20), 200, np.uint8))
images("images empty", u8(0, 1, 20, 20), u8(0, 1, 20, 20))

# Too large to store: the test makes the same images.
i, j = np.mgrid[0:176, 0:180]
large = [((i * 7 + j * 13 + i * j // 9) % 17) / np.float32(16), ((i * 7 + j * 13 + i * j // 8) % 17) / np.float32(16)]
large = [x.astype(np.float32).astype(np.float64) for x in large]
expect("large images", "ms-ssim", ms_ssim(*large, 11, (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)))
expect("large images", "ssim", structural_similarity(*large, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=1))


# --- masks: Dice is the F1 score of the pixels ------------------------------------------------------------------------
def masks(name, x, y):
    put_inputs(name, x.astype(np.int64), y.astype(np.int64))
    foreground = slice(1, None) if x.shape[1] > 1 else slice(None)
    a, b = x[:, foreground].ravel(), y[:, foreground].ravel()
    # Both masks empty: 1, because of the epsilon in numerator and denominator.
    expect(name, "dice", np.nan if len(x) == 0 else sk.f1_score(b, a, zero_division=1))


masks("masks random", rng.random((5, 3, 6, 7)) < 0.5, rng.random((5, 3, 6, 7)) < 0.5)
masks("masks of one class", rng.random((5, 1, 6, 7)) < 0.3, rng.random((5, 1, 6, 7)) < 0.3)
masks("masks of nothing", np.zeros((2, 1, 4, 4), bool), np.zeros((2, 1, 4, 4), bool))

# --- the file ---------------------------------------------------------------------------------------------------------
NAMES = {"float32": "F32", "float64": "F64", "int64": "I64", "uint8": "U8"}
header, data = {}, b""
for name in sorted(tensors):
    array = tensors[name]
    raw = array.tobytes()
    header[name] = {"dtype": NAMES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
print(len(tensors), "tensors,", 8 + len(text) + len(data), "bytes")
