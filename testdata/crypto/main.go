// Crypto is linked with the assembly of Go's standard library: AES, SHA, AVX2 and
// AVX-512 instructions, data among code. It does nothing of interest.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"os"
)

func main() {
	text := []byte("ftgo")
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stdout, "%x %x %x %x %x %x %d %v %d %d\n", sha1.Sum(text), sha256.Sum256(text), sha512.Sum512(text),
		sha3.Sum256(text), md5.Sum(text), crc32.ChecksumIEEE(text), gcm.Overhead(), new(big.Int).Exp(big.NewInt(3), big.NewInt(100), nil),
		len(public), len(key.Bytes()))
	if len(os.Args) > 1 {
		_, _ = http.Get(os.Args[1])
	}
}
