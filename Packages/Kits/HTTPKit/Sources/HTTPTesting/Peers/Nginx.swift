import CoreTesting
public import Cryptography
import FileKit
import ProcessKit

/// A real nginx with one worker, for tests against an independent server.
///
/// | Path | Answer |
/// |---|---|
/// | `/hello` | `hello` |
/// | a file in `files` | the file, with ranges, and compressed if it is `.txt` or `.json` |
/// | `/large` | `largeSize` zeros from a sparse file |
/// | `/echo` | the method, the target, and the headers `Authorization`, `Cookie`, `X-Test`, one per line |
/// | `/status/<code>` | 400, 401, 403, 404, 409, 429, 500 or 503 with a JSON message |
/// | `/redirect/<code>` | 301, 302, 303, 307 or 308 to `/echo` |
/// | `/redirect/loop` | itself |
/// | `/upload/<name>` | PUT stores the file in `uploads` |
/// | `/private` | `secret` for the user `lab` with the password `bench` |
/// | `/slow` | 1 MiB at 64 KiB a second |
public struct Nginx: Sendable {
    /// HTTP/1.1 without TLS.
    public let port: Int
    /// HTTP/1.1 and HTTP/2 by ALPN, with the certificate passed to `run`.
    public let tlsPort: Int
    /// The Unix socket for HTTP/1.1.
    public let socketPath: String
    /// The directory of the served files.
    public let files: String
    /// The directory in which `/upload` stores files.
    public let uploads: String
    private let log: String

    /// The size of `/large`.
    public static let largeSize = 4 << 30

    /// One line of the access log.
    public struct LogLine: Sendable, Hashable {
        /// The number of the connection, the same for all its requests.
        public let connection: String
        /// The protocol, such as `HTTP/1.1` or `HTTP/2.0`.
        public let version: String
        /// The request line: `GET /hello HTTP/1.1`.
        public let request: String
        /// The status of the response.
        public let status: Int
        /// The bytes of the body that were sent, as transferred.
        public let bodyBytesSent: Int
    }

    /// The finished requests, in order. nginx writes a line after it has sent the last byte, perhaps after the client
    /// received it: look only at lines of earlier requests.
    public func accessLog() throws -> [LogLine] {
        String(decoding: try Files.read(log, limit: 64 << 20), as: UTF8.self).split(separator: "\n").compactMap {
            line in
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 5, let status = Int(words[3]), let bytes = Int(words[4]) else { return nil }
            return LogLine(
                connection: words[0], version: words[1], request: words[2], status: status, bodyBytesSent: bytes)
        }
    }

    /// Runs nginx for the length of `body`.
    ///
    /// - Parameters:
    ///   - tls: The certificate of the TLS ports.
    ///   - isLogging: Whether `accessLog` is written, which costs time.
    public static func run<Result>(
        tls: Identity, isLogging: Bool = true, isolation: isolated (any Actor)? = #isolation,
        during body: (Nginx) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            for name in ["files", "uploads", "temporary"] { try Files.makeDirectories("\(folder)/\(name)") }
            _ = try tls.write(into: folder, as: "server")
            try Files.writeAtomically(Array("lab:{PLAIN}bench\n".utf8), to: "\(folder)/users")
            try SparseFile.make("\(folder)/large", size: largeSize)
            try SparseFile.make("\(folder)/slow", size: 1 << 20)
            try Files.writeAtomically(
                Array(NginxConfiguration.template(folder: folder, isLogging: isLogging).utf8), to: "\(folder)/template")
            var command = Command(
                "python3", ["-c", NginxConfiguration.launcher, folder], environment: PeerPrograms.environment(),
                workingDirectory: folder)
            command.input = .pipe
            return try await Launcher.standalone.withChild(command, grace: .milliseconds(500)) { child in
                let line = try await child.output.nextLine().map { String(decoding: $0, as: UTF8.self) } ?? ""
                let ports = line.split(separator: " ").compactMap { Int($0) }
                guard ports.count == 2 else {
                    let words = String(decoding: child.errorTail, as: UTF8.self)
                    throw ScriptError.failed("nginx was not started; is it installed? \(words)")
                }
                return try await body(
                    Nginx(
                        port: ports[0], tlsPort: ports[1], socketPath: "\(folder)/socket",
                        files: "\(folder)/files", uploads: "\(folder)/uploads", log: "\(folder)/access.log"))
            }
        }
    }
}

/// The texts with which `Nginx` starts nginx.
enum NginxConfiguration {
    /// Binds ports of the system's choice, writes them into the configuration, and starts nginx, which inherits the
    /// listening sockets through its environment. So no other program can take a port in between.
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
