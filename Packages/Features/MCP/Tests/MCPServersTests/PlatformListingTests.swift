import HTTPClient
import JSON
import MCPKit
import Testing

@testable import MCPServers

/// The names of the tools of platforms, and where they are looked for.
struct PlatformListingTests {
    private func names(_ listings: [String: [(String, String)]], own: Set<String> = []) -> [String] {
        let listings = listings.map { profile, tools in
            PlatformListing(
                profile: profile, tools: tools.map { PlatformTool(id: $0.0, name: $0.1, url: "https://a.example") })
        }
        return PlatformListing.servers(of: listings, beside: own, folder: "/").servers.map(\.name).sorted()
    }

    @Test("a tool has its plain name, and before it the profile where another has the same")
    func naming() {
        #expect(names(["lab": [("1", "Web Search"), ("2", "time")]]) == ["Web-Search", "time"])
        #expect(names(["lab": [("1", "time")]], own: ["time"]) == ["lab-time"])
        #expect(
            names(["lab": [("1", "time")], "office": [("1", "time"), ("2", "mail")]]) == [
                "lab-time", "mail", "office-time",
            ])
        #expect(names(["lab": [("1", "files")]]) == ["mcp-files"])
        #expect(names(["lab": [("abcdef0123", "time"), ("123", "time")]]) == ["time-123", "time-abcdef01"])
    }

    @Test("a tool whose name is taken in any case is left out, and told")
    func taken() {
        let listing = PlatformListing(
            profile: "lab", tools: [PlatformTool(id: "1", name: "a", url: "https://a.example")])
        let (servers, problems) = PlatformListing.servers(of: [listing], beside: ["a", "lab-a"], folder: "/")
        #expect(servers.isEmpty && problems.count == 1 && problems[0].contains("lab-a"))
    }

    @Test("a platform's tool is the person's, comes before a project's server of its name, and after one of theirs")
    func origins() {
        let listing = PlatformListing(
            profile: "lab", tools: [PlatformTool(id: "1", name: "a", url: "https://a.example")])
        let entry = ServerEntry(.address("https://b.example"))
        let project = ServerDirectory(
            [(.project(file: "f"), ["a": entry])], folder: "/", readsProject: false, platforms: [listing])
        #expect(project.servers.map(\.platform) == ["lab"] && project.servers[0].isOwn && project.problems.count == 1)
        let own = ServerDirectory([(.own("f"), ["a": entry])], folder: "/", readsProject: false, platforms: [listing])
        #expect(own.servers.map(\.name) == ["a", "lab-a"] && own.servers.map(\.platform) == [nil, "lab"])
    }

    @Test(
        "places are tried in their order, without what the address has already",
        arguments: [
            ("https://a.example/t", ["/t", "/t/mcp", "/t/sse events"]),
            ("https://a.example/t/", ["/t/", "/t/mcp", "/t/sse events"]),
            ("https://a.example/mcp", ["/mcp", "/mcp/sse events"]),
            ("https://a.example/sse", ["/sse", "/sse/mcp", "/sse events"]),
        ])
    func places(_ address: String, _ expected: [String]) throws {
        let url = try HTTPURL(address)
        let places = ServerPlaces()
        func shown() throws -> [String] {
            try places.all(of: url).map { $0.url.path + ($0.form == .events ? " events" : "") }
        }
        #expect(try shown() == expected)
        let last = try #require(try places.all(of: url).last)
        places.remember(last, of: url)
        #expect(try shown() == [expected[expected.count - 1]] + expected.dropLast())
    }
}
