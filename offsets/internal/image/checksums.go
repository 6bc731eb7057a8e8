package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
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
func (m *Image) Checksums() (Checksums, error) {
	if size := uint64(m.stat.Size); m.sparse && size > 2*m.most+maxHoles {
		return Checksums{}, fmt.Errorf("read %s: %d bytes long, and all but %d are holes", m.path, size, m.most)
	}
	sha, crc := sha256.New(), posixCRC{}
	n, err := io.Copy(io.MultiWriter(sha, &crc), io.NewSectionReader(m.file, 0, math.MaxInt64))
	if err != nil {
		return Checksums{}, fmt.Errorf("read %s: %w", m.path, err)
	}
	return Checksums{Size: n, SHA256: hex.EncodeToString(sha.Sum(nil)), CRC: crc.sum()}, nil
}

// posixCRC is the checksum of cksum (POSIX.1-2017, XCU). It is that of package crc32, but runs
// over the bits of each byte from the highest, and then over the length.
type posixCRC struct {
	crc  uint32 // reversed
	size uint64
}

func (c *posixCRC) Write(p []byte) (int, error) {
	c.size += uint64(len(p))
	c.add(p)
	return len(p), nil
}

func (c *posixCRC) add(p []byte) {
	var reversed [512]byte
	for chunk := range slices.Chunk(p, len(reversed)) {
		for i, b := range chunk {
			reversed[i] = bits.Reverse8(b)
		}
		c.crc = ^crc32.Update(^c.crc, crc32.IEEETable, reversed[:len(chunk)])
	}
}

func (c *posixCRC) sum() uint32 {
	for n := c.size; n != 0; n >>= 8 {
		c.add([]byte{byte(n)})
	}
	return ^bits.Reverse32(c.crc)
}
