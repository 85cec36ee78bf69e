import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@testable import ChatProviders

@Suite("Deployments")
struct DeploymentTests {
    static func json(
        _ id: String, model: String = "m", at time: String = "2026-01-01T00:00:00", _ more: JSONObject = [:]
    ) -> JSON {
        var object: JSONObject = [
            "id": .string(id), "m_id": "x", "m_name": .string(model), "status": "DEPLOYED",
            "deployed_at": .string(time),
            "instances": [["id": "i", "status": "DEPLOYED"]],
        ]
        for (name, value) in more { object[name] = value }
        return .object(object)
    }

    @Test("A deployment counts only if it and one of its instances are deployed")
    func active() {
        #expect(Deployment(active: Self.json("a")) != nil)
        #expect(Deployment(active: Self.json("a", ["status": "STOPPED"])) == nil)
        #expect(Deployment(active: Self.json("a", ["instances": []])) == nil)
        #expect(Deployment(active: Self.json("a", ["instances": [["status": "FAILED"]]])) == nil)
        #expect(
            Deployment(active: Self.json("a", ["instances": [["status": "FAILED"], ["status": "DEPLOYED"]]])) != nil)
        #expect(Deployment(active: "nonsense") == nil)
    }

    @Test(
        "The endpoint is its path, else its port, else its standard location",
        arguments: [
            (["access_path": "/runtime/models/a", "lb_port": 61100], "https://lab.example/runtime/models/a/v1"),
            (["access_path": "/serve/a/v1"], "https://lab.example/serve/a/v1"),
            (["access_path": "serve/a/"], "https://lab.example/serve/a/v1"),
            (["lb_port": 61100], "https://lab.example:61100/v1"),
            (["lb_port": 443], "https://lab.example/runtime/models/a/v1"),
            (["lb_port": 0, "access_path": nil], "https://lab.example/runtime/models/a/v1"),
            ([:], "https://lab.example/runtime/models/a/v1"),
        ] as [(JSONObject, String)])
    func endpoint(more: JSONObject, expected: String) throws {
        let deployment = try #require(Deployment(active: Self.json("a", more)))
        #expect(try deployment.endpoint(at: HTTPURL("https://lab.example/api")).text == expected)
    }

    @Test(
        "The endpoint stays on its host, whatever path the platform names",
        arguments: [
            "@evil.example/x", "//evil.example/x", "https://evil.example", "/../../x", ":99/x", "\\\\evil.example",
        ])
    func hostile(path: String) throws {
        let deployment = try #require(Deployment(active: Self.json("a", ["access_path": .string(path)])))
        let base = try HTTPURL("https://lab.example/api")
        // A refusal is fine too.
        guard let url = try? deployment.endpoint(at: base) else { return }
        #expect(url.isSameOrigin(as: base))
    }

    @Test("The deployment used last comes first, then the oldest")
    func order() {
        let all = [("new", "2026-03-01T00:00:00"), ("old", "2026-01-01T00:00:00"), ("mid", "2026-02-01T00:00:00Z")]
            .compactMap { Deployment(active: Self.json($0.0, model: "model-\($0.0)", at: $0.1)) }
        #expect(all.ordered(last: nil).map(\.id) == ["old", "mid", "new"])
        #expect(all.ordered(last: "model-new").map(\.id) == ["new", "old", "mid"])
        #expect(all.ordered(last: "mid").map(\.id) == ["mid", "old", "new"])
        #expect(all.ordered(last: "gone").map(\.id) == ["old", "mid", "new"])
    }

    @Test("A deployment is named by its model, with its id if two serve the same model")
    func names() throws {
        let all =
            ["a", "b"].compactMap { Deployment(active: Self.json($0, model: "same")) }
            + ["c"].compactMap { Deployment(active: Self.json($0, model: "other")) }
        #expect(all.map { all.name(of: $0) } == ["same@a", "same@b", "other"])
        #expect(all.named("same@b")?.id == "b")
        #expect(all.named("same")?.id == "a")
        #expect(all.named("b")?.id == "b")
        #expect(all.named("nothing") == nil)
        let canonical = [Deployment(active: Self.json("d", model: "org/m", ["canonical_model_id": "m-local"]))]
            .compactMap(\.self)
        #expect(canonical.map { canonical.name(of: $0) } == ["org/m"])
        #expect(canonical.named("m-local")?.id == "d" && canonical.named("org/m")?.id == "d")
    }
}
