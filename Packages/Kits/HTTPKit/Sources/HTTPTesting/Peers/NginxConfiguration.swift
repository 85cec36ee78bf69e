/// The texts that `Nginx` starts nginx with.
enum NginxConfiguration {
    /// Binds ports of the system's choice, writes them into the configuration, and starts nginx, which takes listening
    /// sockets over from its environment. So no port is free for a moment and taken by somebody else.
    static let launcher = """
        \(PeerPrograms.supervisor)
        import socket
        folder = sys.argv[1]
        text = open(folder + "/template").read()
        listeners = [socket.socket() for _ in range(2)] + [socket.socket(socket.AF_UNIX)]
        for listener in listeners[:2]:
            listener.bind(("127.0.0.1", 0))
        listeners[2].bind(folder + "/socket")
        ports = [listener.getsockname()[1] for listener in listeners[:2]]
        for name, port in zip(("@http@", "@https@"), ports):
            text = text.replace(name, "127.0.0.1:%d" % port)
        for listener in listeners:
            listener.listen(512)
            listener.set_inheritable(True)
        # As root, nginx would let its worker become somebody who may not look into the folder.
        text = text.replace("@user@", "user root;" if os.geteuid() == 0 else "")
        open(folder + "/nginx.conf", "w").write(text)
        numbers = [listener.detach() for listener in listeners]
        os.environ["NGINX"] = "".join("%d;" % number for number in numbers)
        print(*ports, flush=True)
        supervise(["nginx", "-e", "stderr", "-p", folder, "-c", folder + "/nginx.conf"], numbers)
        """

    static func template(folder: String, isLogging: Bool) -> String {
        """
        daemon off;
        worker_processes 1;
        @user@
        pid \(folder)/nginx.pid;
        error_log stderr error;
        worker_rlimit_nofile 8192;
        events { worker_connections 4096; }
        http {
            log_format test "$connection\\t$server_protocol\\t$request\\t$status\\t$body_bytes_sent";
            access_log \(isLogging ? "\(folder)/access.log test" : "off");
            client_body_temp_path \(folder)/temporary/body;
            proxy_temp_path \(folder)/temporary/proxy;
            fastcgi_temp_path \(folder)/temporary/fastcgi;
            uwsgi_temp_path \(folder)/temporary/uwsgi;
            scgi_temp_path \(folder)/temporary/scgi;
            types { text/plain txt; application/json json; application/octet-stream bin; text/event-stream events; }
            client_max_body_size 0;
            keepalive_requests 1000000;
            sendfile on;
            gzip on;
            gzip_types text/plain application/json;
            gzip_min_length 100;
            lingering_close always;
            server {
                listen @http@;
                listen unix:\(folder)/socket;
                listen @https@ ssl http2;
                ssl_certificate \(folder)/server.pem;
                ssl_certificate_key \(folder)/server.key;
                ssl_protocols TLSv1.2 TLSv1.3;
                absolute_redirect off;
                root \(folder)/files;
                location = /hello { default_type text/plain; return 200 "hello"; }
                location = /large { default_type application/octet-stream; alias \(folder)/large; }
                location = /slow { default_type application/octet-stream; alias \(folder)/slow; limit_rate 65536; }
                location = /echo {
                    default_type text/plain;
                    return 200 "$request_method\\n$request_uri\\n$http_authorization\\n$http_cookie\\n$http_x_test\\n";
                }
                location /upload/ {
                    alias \(folder)/uploads/;
                    dav_methods PUT DELETE;
                    client_body_buffer_size 1m;
                }
                location = /private {
                    auth_basic "lab";
                    auth_basic_user_file \(folder)/users;
                    default_type text/plain;
                    try_files $uri @secret;
                }
                location @secret { default_type text/plain; return 200 "secret"; }
                location = /redirect/loop { return 302 /redirect/loop; }
        \(redirects)
        \(statuses)
            }
        }
        """
    }

    private static let redirects = [301, 302, 303, 307, 308].map {
        "        location = /redirect/\($0) { return \($0) /echo; }"
    }.joined(separator: "\n")

    private static let statuses = [400, 401, 403, 404, 409, 429, 500, 503].map {
        """
                location = /status/\($0) {
                    default_type application/json;
                    \($0 == 429 || $0 == 503 ? "add_header Retry-After 7 always;" : "")
                    return \($0) '{"error":{"message":"the lab says \($0)"}}';
                }
        """
    }.joined(separator: "\n")
}
