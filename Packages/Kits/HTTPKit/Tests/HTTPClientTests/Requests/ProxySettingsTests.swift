import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Proxy settings")
struct ProxySettingsTests {
    @Test("The usual variables are read, except HTTP_PROXY in capitals, and a specific one precedes ALL_PROXY")
    func environment() throws {
        let settings = ProxySettings(environment: [
            "HTTP_PROXY": "http://evil.example:1", "HTTPS_PROXY": "http://s.example:2",
            "ALL_PROXY": "http://all.example:3",
            "no_proxy": "localhost,.lab",
        ])
        #expect(settings.http == "http://all.example:3")
        #expect(settings.https == "http://s.example:2")
        #expect(settings.except?.hasPrefix("localhost,.lab,") == true)
        #expect(settings.proxy(for: try HTTPURL("https://x/")) == "http://s.example:2")
        #expect(settings.proxy(for: try HTTPURL("http://x/")) == "http://all.example:3")
    }

    @Test("Missing and empty variables mean a direct connection")
    func none() {
        for variables in [[:], ["http_proxy": "", "https_proxy": "", "HTTP_PROXY": "http://x:1"]] as [[String: String]]
        {
            let settings = ProxySettings(environment: variables)
            #expect(settings.http == nil && settings.https == nil)
        }
    }

    @Test("This machine is reached directly, whatever the variables contain")
    func loopback() {
        let except = ProxySettings(environment: ["http_proxy": "http://p.example:1"]).except ?? ""
        for host in ["localhost", "127.0.0.0/8", "::1"] { #expect(except.split(separator: ",").contains(host[...])) }
    }

    @Test(
        "A proxy that libcurl would refuse is an error that does not quote it", .timeLimit(.minutes(5)),
        arguments: [
            "bogus://user:s3cret@127.0.0.1:1", "http://user:s3cret@127.0.0.1:99999", "http://us er:s3cret@127.0.0.1:1",
        ])
    func unusable(_ proxy: String) async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.proxies = ProxySettings(http: proxy)
        try await Lab.client(configuration) { client in
            let error = await Lab.failure { _ = try await client.send(try Lab.request(9)) }
            #expect(error?.kind == .proxy && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
            #expect(error?.message.contains("s3cret") == false && error?.message.contains("user") == false)
        }
    }
}
