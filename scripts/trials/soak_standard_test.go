package trials

// standard are the packages of the standard library whose tests are run by default, from those
// that call little to those that call much.
var standard = []string{
	"errors", "unicode/utf8", "unicode/utf16", "path", "html", "mime", "container/heap", "container/list", "container/ring",
	"encoding/hex", "encoding/base64", "encoding/binary", "encoding/csv", "encoding/gob", "encoding/json", "encoding/xml",
	"net/url", "path/filepath", "text/tabwriter", "text/scanner", "text/template", "html/template", "go/parser", "go/format", "go/token",
	"hash/crc32", "hash/fnv", "hash/maphash", "image", "image/color", "image/gif", "image/jpeg", "image/png", "index/suffixarray",
	"io", "io/fs", "bufio", "bytes", "strings", "strconv", "fmt", "log", "log/slog", "expvar", "flag",
	"compress/bzip2", "compress/flate", "compress/gzip", "compress/lzw", "compress/zlib", "archive/tar", "archive/zip",
	"context", "sync", "sync/atomic", "time", "os", "os/exec", "os/signal", "os/user", "maps", "slices", "sort", "iter", "reflect", "regexp", "regexp/syntax",
	"crypto/aes", "crypto/cipher", "crypto/des", "crypto/ecdsa", "crypto/ed25519", "crypto/elliptic", "crypto/hmac", "crypto/md5", "crypto/rand",
	"crypto/rc4", "crypto/rsa", "crypto/sha1", "crypto/sha256", "crypto/sha512", "crypto/tls", "crypto/x509",
	"database/sql", "math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "net/netip", "net/textproto", "net/mail", "net/rpc",
	"net/http/httptest", "net/http", "net", "unique", "weak", "runtime/debug", "runtime/pprof", "runtime/trace", "runtime",
}
