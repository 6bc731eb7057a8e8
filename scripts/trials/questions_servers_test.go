package trials

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var serversDir = flag.String("servers", "", "the `DIR` that scripts/questions has built servers in")

// realServer is a server that somebody else wrote: how it is started and used, and what its metrics or
// its log say of that.
type realServer struct {
	name      string
	args      []string
	files     map[string]string // that it reads, by name
	address   string            // it listens there when it is ready
	use       func() error
	books     func(log string) (map[string]int, error)
	questions func(b map[string]int) []question
}

const (
	natsAddress, natsBooks       = "127.0.0.1:14222", "127.0.0.1:18222"
	caddyAddress                 = "127.0.0.1:18080"
	corednsAddress, corednsBooks = "127.0.0.1:15353", "127.0.0.1:19153"
)

// realServers are asked 25 questions in all.
var realServers = []realServer{
	{
		name: "nats-server", args: []string{"-a", "127.0.0.1", "-p", "14222", "-m", "18222"}, address: natsAddress,
		use: useNATS, books: readNATS,
		questions: func(b map[string]int) []question {
			messages, say := b["in_msgs"], fmt.Sprint
			return []question{
				{"how many messages are there", "ftgo count -p nats-server client.processInboundClientMsg",
					[]string{say("server.(*client).processInboundClientMsg ", messages)}},
				{"which subject is hot", "ftgo probe -p nats-server --by c.pa.subject processInboundClientMsg",
					[]string{say("orders.tea ", messages-14), "orders.cup 10", "nobody 3", "bad..subject 1"}},
				{"how many bytes are there", "ftgo probe -p nats-server --sum c.pa.size processInboundClientMsg",
					[]string{say("server.(*client).processInboundClientMsg ", messages, " ", b["in_bytes"])}},
				{"how large are messages", "ftgo probe -p nats-server --sum c.pa.size --hist processInboundClientMsg",
					[]string{"4 -> 7 : 20", "256 -> 511 : 10"}},
				{"who subscribes to what", "ftgo trace -p nats-server 'client.processSubEx(subject) -'",
					[]string{`1× server.(*client).processSubEx(subject=[]byte("orders.*"))`, `1× processSubEx(subject=[]byte("stock.tea"))`}},
				{"what is published", "ftgo trace -p nats-server client.processPub",
					[]string{`20× server.(*client).processPub(c= arg=[]byte("orders.tea 5")) = nil`}},
				{"which messages are large", "ftgo trace -p nats-server --where 'c.pa.size > 99' processInboundClientMsg",
					[]string{"10× server.(*client).processInboundClientMsg(c="}},
				{"to whom is it delivered", "ftgo probe -p nats-server --by sub.subject client.deliverMsg",
					[]string{say("orders.* ", b["out_msgs"])}},
				{"what is answered with an error", "ftgo trace -p nats-server 'client.sendErr(err)'",
					[]string{`1× server.(*client).sendErr(err="Invalid Publish Subject")`}},
				{"what do connections wait for", "ftgo probe -p nats-server --waits client.readLoop",
					[]string{say("server.(*client).readLoop ", b["total_connections"], " IO wait")}},
			}
		},
	},
	{
		name: "caddy", args: []string{"run", "--config", "Caddyfile"}, address: caddyAddress,
		files: map[string]string{
			"Caddyfile":      "{\n\tadmin off\n\tauto_https off\n}\nhttp://" + caddyAddress + " {\n\troot * www\n\tlog {\n\t\toutput stdout\n\t\tformat json\n\t}\n\tfile_server\n}\n",
			"www/index.html": "<p>tea and cups</p>\n",
		},
		use: useCaddy, books: readCaddy,
		questions: func(b map[string]int) []question {
			requests, say := b["requests"], fmt.Sprint
			return []question{
				{"how many requests are there", "ftgo count -p caddy serverHandler.ServeHTTP",
					[]string{say("http.serverHandler.ServeHTTP ", requests)}},
				{"which handler is slow", "ftgo probe -p caddy --sort p99 'caddyhttp.*.ServeHTTP'",
					[]string{say("caddyhttp.(*Server).ServeHTTP ", requests), say("caddyhttp.(*Subroute).ServeHTTP ", requests)}},
				{"which URL is hot", "ftgo probe -p caddy --by '+56(+16(goarg4)):string' serverHandler.ServeHTTP",
					[]string{say("/ ", b["/"]), say("/index.html ", b["/index.html"]), say("/missing ", b["/missing"])}},
				{"what is asked for", "ftgo trace -p caddy 'serverHandler.ServeHTTP(+56(+16(goarg4)):string)'",
					[]string{say(b["/missing"], `× http.serverHandler.ServeHTTP(+56(+16(goarg4))="/missing")`)}},
				{"how often is each status", "ftgo probe -p caddy --by goarg2 response.WriteHeader",
					[]string{say("200 ", b["200"]), say("404 ", b["404"])}},
				{"what is not found", "ftgo count -p caddy FileServer.notFound",
					[]string{say("fileserver.(*FileServer).notFound ", b["404"])}},
				{"how do latencies spread", "ftgo probe -p caddy --hist fileserver.FileServer.ServeHTTP",
					[]string{"Function = github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver.(*FileServer).ServeHTTP", "-> : |"}},
				{"what do connections wait for", "ftgo probe -p caddy --waits conn.serve",
					[]string{"http.(*conn).serve 1 IO wait"}},
			}
		},
	},
	{
		name: "coredns", args: []string{"-conf", "Corefile"}, address: corednsBooks,
		files: map[string]string{
			"Corefile": ".:15353 {\n\tbind 127.0.0.1\n\tprometheus " + corednsBooks + "\n\thosts {\n\t\t10.0.0.1 tea.shop\n\t\t10.0.0.2 cup.shop\n\t}\n}\n",
		},
		use: useCoreDNS, books: readCoreDNS,
		questions: func(b map[string]int) []question {
			queries, say := b["coredns_dns_requests_total"], fmt.Sprint
			return []question{
				{"how many queries are there", "ftgo count -p coredns dnsserver.Server.ServeDNS",
					[]string{say("dnsserver.(*Server).ServeDNS ", queries)}},
				{"which name is hot", "ftgo probe -p coredns --by r.Question[0].Name dnsserver.Server.ServeDNS",
					[]string{say("tea.shop. ", queries-15), "cup.shop. 10", "mug.shop. 5"}},
				{"what is asked for", "ftgo trace -p coredns 'dnsserver.Server.ServeDNS(r.Question[0].Name)'",
					[]string{`5× dnsserver.(*Server).ServeDNS(r.Question[0].Name="mug.shop.")`}},
				{"which plugin is slow", "ftgo probe -p coredns --sort p99 '*.ServeDNS'",
					[]string{say("dnsserver.(*Server).ServeDNS ", queries), say("hosts.Hosts.ServeDNS ", queries)}},
				{"how often is each answer", "ftgo probe -p coredns --by rcode vars.Report",
					[]string{say("NOERROR ", b["NOERROR"]), say("SERVFAIL ", b["SERVFAIL"])}},
				{"how large are answers", "ftgo probe -p coredns --sum size vars.Report",
					[]string{say("vars.Report ", queries, " ", b["coredns_dns_response_size_bytes_sum"])}},
				{"who allocates", "ftgo probe -p coredns --sum size --stack 'runtime.mallocgc?*' -x '*SlowPath'",
					[]string{"runtime.mallocgc", "dnsserver.(*Server).ServeDNS"}},
			}
		},
	},
}

// TestTrialQuestions: real servers are asked questions, and know the answers themselves.
func TestTrialQuestions(t *testing.T) {
	tracetest.Kernel(t)
	for i := range realServers {
		s := &realServers[i]
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range s.files {
				path := filepath.Join(dir, name)
				check(t, os.MkdirAll(filepath.Dir(path), 0o755))
				check(t, os.WriteFile(path, []byte(text), 0o644))
			}
			check(t, os.Symlink(fixture.Command(t, "cmd/ftgo"), filepath.Join(dir, "ftgo")))
			for _, q := range s.questions(nil) {
				t.Run(q.ask, func(t *testing.T) {
					answer, b := s.asked(t, dir, q.command)
					for _, now := range s.questions(b) {
						if now.ask == q.ask {
							now.answered(t, answer)
						}
					}
				})
			}
		})
	}
}

// asked is what a command answers of a server that is used as soon as the probes are armed.
func (s *realServer) asked(t *testing.T, dir, line string) (answer string, b map[string]int) {
	t.Helper()
	server := command(t, time.Minute, filepath.Join(rooted(*serversDir), s.name), s.args...)
	server.Dir = dir
	check(t, server.start())
	awaited(t, func() bool {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			check(t, conn.Close())
		}
		return err == nil
	})
	answer = ask(t, dir, line, func(asked *child) {
		check(t, s.use())
		time.Sleep(100 * time.Millisecond) // what goes on after the last answer
		check(t, asked.signal(syscall.SIGINT))
	})
	b, err := s.books(contents(server.stdout))
	check(t, err)
	server.kill()
	return answer, b
}

// useNATS publishes to two subjects, which somebody subscribes to, to one that nobody does, and to a
// wrong one.
func useNATS() error {
	talk := func(text string) error {
		conn, err := net.Dial("tcp", natsAddress)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "CONNECT {\"verbose\":false}\r\n"+text+"PING\r\n"); err != nil {
			return err
		}
		for r := bufio.NewReader(conn); ; {
			if line, err := r.ReadString('\n'); err != nil || line == "PONG\r\n" {
				return err
			}
		}
	}
	large := strings.Repeat("x", 300)
	err := talk("SUB orders.* 1\r\nSUB stock.tea 2\r\n" + strings.Repeat("PUB orders.tea 5\r\nhello\r\n", 20) +
		strings.Repeat("PUB orders.cup 300\r\n"+large+"\r\n", 10) + strings.Repeat("PUB nobody 1\r\nx\r\n", 3))
	if err != nil {
		return err
	}
	return talk("PUB bad..subject 1\r\nx\r\n")
}

func readNATS(string) (books map[string]int, err error) {
	text, err := get("http://" + natsBooks + "/varz")
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	books = make(map[string]int)
	for name, value := range all {
		if n, ok := value.(float64); ok {
			books[name] = int(n)
		}
	}
	books["total_connections"]-- // the one that asked whether the server is ready
	return books, nil
}

func useCaddy() error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, of := range []struct {
		path string
		n    int
	}{{"/", 20}, {"/index.html", 3}, {"/missing", 5}, {"/tea?size=2", 2}} {
		for range of.n {
			r, err := client.Get("http://" + caddyAddress + of.path)
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return err
			}
			r.Body.Close()
		}
	}
	return nil
}

// readCaddy counts requests, their paths and their status by the access log.
func readCaddy(log string) (books map[string]int, err error) {
	books = make(map[string]int)
	for line := range strings.Lines(log) {
		var entry struct {
			Status  int
			Request struct{ URI string }
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			return nil, err
		}
		books["requests"]++
		path, _, _ := strings.Cut(entry.Request.URI, "?")
		books[path]++
		books[strconv.Itoa(entry.Status)]++
	}
	return books, nil
}

func get(url string) ([]byte, error) {
	r, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// useCoreDNS asks for the addresses of three names, each query once (RFC 1035, section 4).
func useCoreDNS() error {
	conn, err := net.Dial("udp", corednsAddress)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	for _, of := range []struct {
		name string
		n    int
	}{{"tea", 20}, {"cup", 10}, {"mug", 5}} {
		for range of.n {
			query := "\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03" + of.name + "\x04shop\x00\x00\x01\x00\x01"
			if _, err := io.WriteString(conn, query); err != nil {
				return err
			}
			if _, err := conn.Read(make([]byte, 512)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readCoreDNS adds up metrics by their names, and answers by their codes.
func readCoreDNS(string) (books map[string]int, err error) {
	text, err := get("http://" + corednsBooks + "/metrics")
	if err != nil {
		return nil, err
	}
	books = make(map[string]int)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // a comment
		}
		name, labels, _ := strings.Cut(name, "{")
		books[name] += int(n)
		if _, code, ok := strings.Cut(labels, `rcode="`); ok && name == "coredns_dns_responses_total" {
			code, _, _ = strings.Cut(code, `"`)
			books[code] += int(n)
		}
	}
	return books, nil
}
