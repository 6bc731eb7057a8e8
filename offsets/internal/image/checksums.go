package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
)

// Checksums tell a file from all others.
type Checksums struct {
	Size int64
	// SHA256 is in hexadecimal, CRC what POSIX cksum prints.
	SHA256 string
	CRC    uint32
}

// maxHoles is how many bytes of holes are read beyond as many as the file holds.
const maxHoles = 64 << 20

// Checksums reads all of the file, unless most of it is holes.
func (f *File) Checksums() (Checksums, error) {
	if size := uint64(f.stat.Size()); f.sparse && size > 2*f.most+maxHoles {
		return Checksums{}, fmt.Errorf("read %s: %d bytes long, and all but %d are holes", f.path, size, f.most)
	}
	sha, crc := sha256.New(), posixCRC{}
	n, err := io.Copy(io.MultiWriter(sha, &crc), io.NewSectionReader(f.file, 0, math.MaxInt64))
	if err != nil {
		return Checksums{}, fmt.Errorf("read %s: %w", f.path, err)
	}
	return Checksums{Size: n, SHA256: hex.EncodeToString(sha.Sum(nil)), CRC: crc.sum()}, nil
}

// posixCRC is the checksum of cksum (POSIX.1-2017, XCU): no library has it, since it runs
// over the bits from the highest and then over the length.
type posixCRC struct {
	crc  uint32
	size uint64
}

var posixTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func (c *posixCRC) Write(p []byte) (int, error) {
	for _, b := range p {
		c.crc = c.crc<<8 ^ posixTable[byte(c.crc>>24)^b]
	}
	c.size += uint64(len(p))
	return len(p), nil
}

func (c *posixCRC) sum() uint32 {
	crc := c.crc
	for n := c.size; n != 0; n >>= 8 {
		crc = crc<<8 ^ posixTable[byte(crc>>24)^byte(n)]
	}
	return ^crc
}
