"""Maps by code alone: each against plain Python, and public by the kit."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from noisygd_delete_lab.maps import OrientedGradients, Scattering

from noisygd_delete import maps
from noisygd_delete.errors import InvalidParameter

RNG = np.random.default_rng(5)
IMAGES = RNG.uniform(0, 255, (9, 8, 12)) * (RNG.uniform(size=(9, 8, 12)) < 0.4)
FLAT = IMAGES.reshape(9, -1)
GRADIENTS = OrientedGradients((8, 12), cell=2)


@pytest.mark.parametrize(
    ("map", "inputs"),
    [
        (GRADIENTS, FLAT),
        (Scattering((8, 12), scales=2), FLAT),
        (maps.Chain((GRADIENTS, maps.RandomFourier(GRADIENTS.width, size=20))), FLAT),
        (maps.ConcatenatedMap((GRADIENTS, Scattering((8, 12))), weights=(6.0, 3.0)), FLAT),
    ],
)
def test_each_is_public(map: maps.PublicMap, inputs: np.ndarray) -> None:
    maps.check_map(map, inputs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: OrientedGradients((8,)),  # type: ignore[arg-type]
        lambda: OrientedGradients((4, 4), cell=4),
        lambda: Scattering((3, 3)),
    ],
)
def test_what_none_can_be_is_refused(make) -> None:
    with pytest.raises(InvalidParameter):
        make()


def test_gradients_pixel_by_pixel() -> None:
    map = OrientedGradients((8, 12), cell=2, orientations=6, clip=0.3)
    for image, found in zip(IMAGES[:3], map.features(IMAGES[:3]), strict=True):
        np.testing.assert_allclose(found, plain_gradients(image, cell=2, turns=6, clip=0.3), atol=1e-12)
    np.testing.assert_allclose(map.features(IMAGES * 5), map.features(IMAGES), atol=1e-12)
    assert not map.features(np.full((1, 96), 200.0)).any()


def plain_gradients(image: np.ndarray, *, cell: int, turns: int, clip: float) -> list[float]:
    height, width = image.shape
    image = image / math.sqrt(float((image**2).sum()))
    cells: Counter[tuple[int, int, int]] = Counter()
    for y in range(height):
        for x in range(width):
            down = image[min(y + 1, height - 1), x] - image[max(y - 1, 0), x]
            right = image[y, min(x + 1, width - 1)] - image[y, max(x - 1, 0)]
            where = math.atan2(down, right) % math.pi / math.pi * turns
            near = int(where) % turns
            for turn, share in ((near, 1 - where % 1), ((near + 1) % turns, where % 1)):
                for cy in range(height // cell):
                    for cx in range(width // cell):
                        along = max(0.0, 1 - abs(y - (cell * (cy + 0.5) - 0.5)) / cell)
                        across = max(0.0, 1 - abs(x - (cell * (cx + 0.5) - 0.5)) / cell)
                        cells[cy, cx, turn] += math.hypot(down, right) * share * along * across
    made = []
    for cy in range(height // cell - 1):
        for cx in range(width // cell - 1):
            block = [cells[cy + dy, cx + dx, turn] for dx in (0, 1) for dy in (0, 1) for turn in range(turns)]
            norm = math.sqrt(sum(value**2 for value in block) + 1e-6)
            block = [min(value / norm, clip) for value in block]
            norm = math.sqrt(sum(value**2 for value in block) + 1e-6)
            made += [value / norm for value in block]
    return made


def test_scattering_sees_no_brightness_and_little_of_a_shift() -> None:
    map = Scattering((16, 16))
    paths = map.features(np.full((1, 256), 9.0)).reshape(25, 16)
    np.testing.assert_allclose(paths[0], 0.25, rtol=1e-4)  # the local means, of norm 1
    np.testing.assert_allclose(paths[1:], 0, atol=1e-9)  # a wavelet does not answer to a constant
    spot = np.zeros((3, 16, 16))
    spot[0, 7, 7] = spot[1, 7, 8] = spot[2, 7, 12] = 1.0
    still, near, far = map.features(spot)
    assert np.linalg.norm(still - near) < 0.5 * np.linalg.norm(still - far)


def test_scattering_is_the_modulus_of_a_convolution() -> None:
    """One path in direct space: the image against the wavelet, its modulus against the mean, summed term by term."""
    map = Scattering((8, 8), scales=1, orientations=2)
    mean, ((upright, _),) = map._filters
    image = IMAGES[0, :, :8] / np.linalg.norm(IMAGES[0, :, :8])
    padded = np.pad(image, 1, mode="edge")

    def convolved(values: np.ndarray, response: np.ndarray) -> np.ndarray:
        kernel, side = np.fft.ifft2(response), len(values)
        made = np.zeros((side, side), complex)
        for y in range(side):
            for x in range(side):
                made += values[y, x] * np.roll(kernel, (y, x), axis=(0, 1))
        return made

    path = convolved(np.abs(convolved(padded, upright)), mean).real[1:9, 1:9][::2, ::2].ravel()
    found = map.features(IMAGES[:1, :, :8]).reshape(3, 16)[1]
    np.testing.assert_allclose(found, path / math.sqrt(float(path @ path) + 1e-6), atol=1e-12)
