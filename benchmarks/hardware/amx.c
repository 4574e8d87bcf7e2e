/* Products by the processor's own tile instructions. One product: A [m][4 * words] bytes, B [words][n] and C [m][n]
 * dwords, as the tiles hold them; a word is what one row of B gives each column: 4 bytes of int8, 2 numbers of 16 bits. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_XTILEDATA 18

/* the tile registers; gcc wants numbers */
#define C 0
#define A 1
#define B 2
enum { SIGNED_SIGNED, SIGNED_UNSIGNED, UNSIGNED_SIGNED, UNSIGNED_UNSIGNED, BF16, FP16 };

struct configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
_Static_assert(sizeof(struct configuration) == 64, "what LDTILECFG reads");

/* Asks the kernel for the tile registers of this process; 0 if they may be used. */
int request_tiles(void) { return (int)syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA); }

static void configure(int m, int n, int words)
{
    struct configuration tiles;
    memset(&tiles, 0, sizeof tiles);
    tiles.palette = 1;
    tiles.rows[C] = (uint8_t)m, tiles.row_bytes[C] = (uint16_t)(4 * n);
    tiles.rows[A] = (uint8_t)m, tiles.row_bytes[A] = (uint16_t)(4 * words);
    tiles.rows[B] = (uint8_t)words, tiles.row_bytes[B] = (uint16_t)(4 * n);
    _tile_loadconfig(&tiles);
}

/* c += a * b for count products, in one form of the instruction; 1 <= m, n, words <= 16. */
void tile_products(int form, const uint8_t *a, const uint32_t *b, uint32_t *c, long count, int m, int n, int words)
{
    configure(m, n, words);
    for (long i = 0; i < count; i++, a += 4 * m * words, b += words * n, c += m * n) {
        _tile_loadd(C, c, 4 * n);
        _tile_loadd(A, a, 4 * words);
        _tile_loadd(B, b, 4 * n);
        switch (form) {
        case SIGNED_SIGNED: _tile_dpbssd(C, A, B); break;
        case SIGNED_UNSIGNED: _tile_dpbsud(C, A, B); break;
        case UNSIGNED_SIGNED: _tile_dpbusd(C, A, B); break;
        case UNSIGNED_UNSIGNED: _tile_dpbuud(C, A, B); break;
        case BF16: _tile_dpbf16ps(C, A, B); break;
        case FP16: _tile_dpfp16ps(C, A, B); break;
        }
        _tile_stored(C, c, 4 * n);
    }
    _tile_release();
}

/* What a tile of some rows and bytes holds after it was loaded from rows that lie `stride` bytes apart. */
void tile_copy(const uint8_t *from, long stride, uint8_t *to, int rows, int row_bytes)
{
    configure(rows, row_bytes / 4, 1);
    _tile_loadd(C, from, stride);
    _tile_stored(C, to, row_bytes);
    _tile_release();
}
