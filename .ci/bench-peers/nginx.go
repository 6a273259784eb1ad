package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
)

// nginxAround is a configuration for one worker that writes only into its own folder.
const nginxAround = `%[1]s
user %[2]s;
worker_processes 1;
worker_rlimit_nofile 16000;
daemon off;
pid %[3]s/pid;
error_log %[3]s/error.log error;
events { worker_connections %[5]d; }
http {
	access_log off;
	keepalive_requests 1000000000;
	keepalive_timeout 1h;
	client_body_temp_path %[3]s/body;
	proxy_temp_path %[3]s/proxy;
	fastcgi_temp_path %[3]s/fastcgi;
	uwsgi_temp_path %[3]s/uwsgi;
	scgi_temp_path %[3]s/scgi;
	%[4]s
}
`

const nginxProxy = `server {
		listen %s backlog=4096;
		location / {
			proxy_pass http://%s;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_buffering off;
			proxy_read_timeout 1h;
		}
	}`

const caddyProxy = `{
	admin off
	auto_https off
}
http://:%s {
	bind %s
	reverse_proxy %s
}
`

const nginxNchan = `nchan_shared_memory_size 256m;
	server {
		listen %s backlog=8192;
		location = /publish {
			nchan_publisher http;
			nchan_channel_id all;
			nchan_message_buffer_length 10000;
			nchan_message_timeout 5m;
		}
		location = /events {
			nchan_subscriber eventsource;
			nchan_channel_id all;
			nchan_subscriber_first_message newest;
		}
	}`

// nginx starts nginx for a number of connections, with configuration to insert at the beginning and into the http block.
func (b *bench) nginx(connections int, before, inside string) (*process, error) {
	program, err := installed("nginx")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(b.scratch, "nginx")
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxAround, before, me.Username, folder, inside, connections), 0o600); err != nil {
		return nil, err
	}
	return b.begin(nil, program, "-p", folder, "-e", filepath.Join(folder, "error.log"), "-c", path)
}

// worker makes the measurement use the worker process, which does the work.
func (p *process) worker() error {
	return until(func() error {
		workers := children(p.Process.Pid)
		if len(workers) == 0 {
			return errNotLinux
		}
		p.pid = workers[0]
		return nil
	})
}

// nchanModule returns the configuration line that loads nchan.
func nchanModule() (string, error) {
	var candidates []string
	if dir, err := peersFolder(); err == nil {
		candidates = append(candidates, dir)
	}
	for _, dir := range append(candidates, "/") {
		path := filepath.Join(dir, "usr/lib/nginx/modules/ngx_nchan_module.so")
		if _, err := os.Stat(path); err == nil {
			return "load_module " + path + ";", nil
		}
	}
	return "", fmt.Errorf("nchan is not installed: run .ci/install/peers")
}

// caddy starts Caddy, which forwards the frames of a stream at once and unchanged.
func (b *bench) caddy(address, upstream string) (*process, error) {
	program, err := installed("caddy")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.scratch, "Caddyfile")
	if err := os.WriteFile(path, fmt.Appendf(nil, caddyProxy, port, host, upstream), 0o600); err != nil {
		return nil, err
	}
	home := []string{"HOME=" + b.scratch, "XDG_DATA_HOME=" + b.scratch, "XDG_CONFIG_HOME=" + b.scratch}
	return b.begin(home, program, "run", "--config", path, "--adapter", "caddyfile")
}

type version struct{ name, version string }

func peerVersions() []version {
	ask := func(program string, arguments ...string) string {
		path, err := installed(program)
		if err != nil {
			return "not on this machine"
		}
		out, err := exec.Command(path, arguments...).CombinedOutput()
		if err != nil {
			return "does not run"
		}
		return strings.TrimPrefix(strings.TrimSpace(string(out)), "nginx version: nginx/")
	}
	nchan := "with nginx"
	if _, err := nchanModule(); err != nil {
		nchan = "not on this machine"
	}
	return []version{{"nginx", ask("nginx", "-v")}, {"nchan", nchan}, {"Caddy", ask("caddy", "version")}}
}
