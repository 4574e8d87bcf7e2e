/* AMX's TDPBF16PS and TDPFP16PS by the processor's fused multiply-adds, one dot product after the other. */
#include <immintrin.h>
#include <stdint.h>

static __m128 scalar(uint32_t bits) { return _mm_castsi128_ps(_mm_cvtsi32_si128((int)bits)); }

/* a, b: [count][k] float32 bits, k even; c: [count]; products of one tile: 32. */
void tiles(const uint32_t *a, const uint32_t *b, uint32_t *c, int count, int k)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr(0x1f80 | 0x8000 | 0x0040); /* exceptions masked, flush to zero, denormals are zeros */
    for (int i = 0; i < count; i++) {
        __m128 total = scalar(c[i]);
        for (int start = 0; start < k; start += 32) {
            __m128 even = _mm_setzero_ps(), odd = _mm_setzero_ps();
            for (int j = start; j < k && j < start + 32; j += 2) {
                __m128 x = scalar(a[i * k + j]), y = scalar(b[i * k + j]);
                __asm__ volatile("vfmadd231ss %2, %1, %0" : "+x"(even) : "x"(x), "x"(y));
                x = scalar(a[i * k + j + 1]);
                y = scalar(b[i * k + j + 1]);
                __asm__ volatile("vfmadd231ss %2, %1, %0" : "+x"(odd) : "x"(x), "x"(y));
            }
            __asm__ volatile("vaddss %1, %0, %0" : "+x"(even) : "x"(odd));
            __asm__ volatile("vaddss %1, %0, %0" : "+x"(total) : "x"(even));
        }
        c[i] = (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(total));
    }
    _mm_setcsr(before);
}
