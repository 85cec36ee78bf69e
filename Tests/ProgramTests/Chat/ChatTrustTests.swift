import HTTPTesting
import Testing

@Suite("Chat with a libcurl that does not allow trust decisions", .timeLimit(.minutes(5)))
struct ChatTrustTests {
    /// Refuses the callback that judges servers, like a libcurl with another TLS library.
    private static let shim = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdarg.h>
        #include <string.h>
        static int (*set)(void *, int, ...);
        static int refuse(void *easy, int option, ...) {
            if (option == 20108) return 4;
            va_list rest;
            va_start(rest, option);
            void *value = va_arg(rest, void *);
            va_end(rest);
            return set(easy, option, value);
        }
        // The program asks for libcurl's functions by their names.
        void *dlsym(void *library, const char *name) {
            void *(*find)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
            void *found = find(library, name);
            if (strcmp(name, "curl_easy_setopt") != 0) return found;
            set = found;
            return refuse;
        }
        """

    @Test("Nothing is sent, not even to a server with a trusted authority")
    func refused() async throws {
        let all = try TestCertificates.shared()
        let script: ScriptedServer.Script = { try $0.answer(streaming: ["never to be heard"]) }
        try await ScriptedServer.run(tls: ScriptedTLS(all.wrongName), script) { server in
            try await ChatHome.with(answer: "not asked") { home in
                var home = home
                let authority = try all.authority.write(into: home.path, as: "authority").chain
                try write(
                    "{auth: {cacert: '\(authority)', 'keep-unlocked': '0s'}}",
                    to: "\(home.path)/martlet/config/config.json")
                home.variables["OPENAI_BASE_URL"] = "https://127.0.0.1:\(server.port)/v1"
                try write(Self.shim, to: "\(home.path)/shim.c")
                let library = "\(home.path)/shim.so"
                let made = try await home.shell(
                    "cc -shared -fPIC -o \(library) shim.c || clang -shared -fPIC -o \(library) shim.c")
                try #require(made.code == 0, "\(made.errors)")
                home.variables["LD_PRELOAD"] = library
                let run = try await home.martlet("ask", "Hi")
                #expect(run.code != 0 && !run.output.contains("heard"), "\(run.output)\(run.errors)")
                #expect(server.record.requests.isEmpty)
            }
        }
    }
}
