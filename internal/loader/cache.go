package loader

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
)

// cached lists the libraries in the loader's cache.
func (l libraries) cached() []string {
	data, err := os.ReadFile(filepath.Join(l.root, "etc/ld.so.cache"))
	if err != nil {
		return nil
	}
	paths := parseLoaderCache(data, l.machine.LibraryFlags)
	for i := range paths {
		paths[i] = filepath.Join(l.root, paths[i])
	}
	return paths
}

// parseLoaderCache reads /etc/ld.so.cache: the paths of its libraries with these flags, in
// its order. The format, of glibc 2.2 and later, is struct cache_file_new in
// sysdeps/generic/dl-cache.h: a header of 48 bytes, 24 bytes for each library, strings.
// Up to glibc 2.31 ldconfig wrote it behind the older format by default.
func parseLoaderCache(data []byte, flags uint32) (paths []string) {
	const (
		magic     = "glibc-ld.so.cache1.1"
		headerLen = 48
		countAt   = 20
		entryLen  = 24
		pathAt    = 8
	)
	start := bytes.Index(data, []byte(magic))
	if start < 0 || len(data)-start < headerLen {
		return nil
	}
	data = data[start:]
	n := binary.LittleEndian.Uint32(data[countAt:])
	if uint64(n) > uint64(len(data)-headerLen)/entryLen {
		return nil
	}
	for e := range int(n) {
		entry := data[headerLen+e*entryLen:]
		if binary.LittleEndian.Uint32(entry) != flags {
			continue
		}
		at := binary.LittleEndian.Uint32(entry[pathAt:])
		if uint64(at) >= uint64(len(data)) {
			continue
		}
		if end := bytes.IndexByte(data[at:], 0); end > 0 {
			paths = append(paths, string(data[at:int(at)+end]))
		}
	}
	return paths
}
