import Glibc
import HTTPCore
import JSON
import Testing

@Suite("Projects", .timeLimit(.minutes(5))) struct ProjectRouteTests {
    @Test("An unknown limit is refused by name and changes nothing")
    func mistypedBudget() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            for body in [["budget": ["turn_tokns": 5]], ["budget": ["session_tokns": 5, "session_cost": 1]]] as [JSON] {
                let error = try await gateway.json(.patch, "/v1/projects/\(project)", body, status: 422)
                #expect(error["error"]?["param"]?.string?.hasPrefix("budget.") == true)
            }
            #expect(try await gateway.json(.get, "/v1/projects/\(project)")["budget"] == [:])
        }
    }

    @Test("A project is created with its folder, found, changed and deleted, and its files stay")
    func life() async throws {
        try await withGateway { gateway in
            let made = try await gateway.json(
                .post, "/v1/projects", ["name": "My Größe ../project", "description": "a test"])
            let id = try #require(made["id"]?.string)
            let path = try #require(made["path"]?.string)
            #expect(path.hasSuffix("/projects/my-gr-e-project") && made["is_active"] == true)
            #expect(unsafe access(path, R_OK | W_OK | X_OK) == 0)
            let found = try await gateway.json(.get, "/v1/projects?search=a%20test")
            #expect(found["data"]?[0]?["id"]?.string == id && found["pagination"]?["total_items"] == 1)
            #expect(try await gateway.json(.get, "/v1/projects?search=nothing")["data"] == [])

            let rule: JSON = ["verdict": "allow", "tool": "fs.write"]
            let change: JSON = [
                "name": "Other", "rules": [rule], "budget": ["session_tokens": 5, "project_cost": 0.5],
            ]
            let changed = try await gateway.json(.patch, "/v1/projects/\(id)", change)
            #expect(changed["name"] == "Other" && changed["description"] == "a test")
            #expect(changed["rules"]?[0]?["tool"] == "fs.write")
            #expect(changed["budget"] == ["session_tokens": 5, "project_cost": 0.5])
            #expect(try await gateway.json(.get, "/v1/projects/\(id)") == changed)

            let gone = try await gateway.json(.delete, "/v1/projects/\(id)")
            #expect(gone == ["project_id": .string(id), "status": "deleted"])
            #expect(unsafe access(path, F_OK) == 0)
            for method in [HTTPMethod.get, .delete] {
                let answer = try await gateway.json(method, "/v1/projects/\(id)", status: 404)
                #expect(answer.errorCode == "project_not_found")
            }
        }
    }

    @Test("Two projects with the same name get separate folders")
    func twice() async throws {
        try await withGateway { gateway in
            let paths = try await [
                gateway.json(.post, "/v1/projects", ["name": "a"])["path"]?.string,
                gateway.json(.post, "/v1/projects", ["name": "a"])["path"]?.string,
            ]
            #expect(paths[0]?.hasSuffix("/a") == true && paths[1]?.hasSuffix("/a-2") == true)
        }
    }

    @Test("A path beneath the folder for projects is created; a path that leads outside is refused and creates nothing")
    func paths() async throws {
        try await withGateway { gateway in
            let inside = try await gateway.json(.post, "/v1/projects", ["name": "a", "path": "deep/er"])
            #expect(inside["path"]?.string?.hasSuffix("/projects/deep/er") == true)
            unsafe symlink(gateway.folder, "\(gateway.folder)/projects/link")
            for path in [
                "/etc", "/", "../out", "a/../../out", "/proc/self/cwd", gateway.folder, "link", "link/out",
                "\(gateway.folder)/projects/../out", "\(gateway.folder)/projects-not", "a\u{0}b",
                String(repeating: "a/", count: 3000), "\(gateway.folder)/gateway.db/x",
            ] {
                let answer = try await gateway.json(
                    .post, "/v1/projects", ["name": "a", "path": .string(path)], status: 400)
                #expect(answer.errorCode == "invalid_path" && answer["error"]?["param"] == "path", "\(path)")
            }
            #expect(unsafe access("\(gateway.folder)/out", F_OK) != 0)
            #expect(unsafe access("\(gateway.folder)/projects-not", F_OK) != 0)
            #expect(try await gateway.json(.get, "/v1/projects")["pagination"]?["total_items"] == 1)
        }
    }

    @Test("Every invalid member is named")
    func wrong() async throws {
        try await withGateway { gateway in
            let bad: JSON = [
                "name": 5, "description": [], "rules": [["verdict": "maybe"]], "budget": ["session_tokens": -1],
            ]
            let answer = try await gateway.json(.post, "/v1/projects", bad, status: 422)
            let names = answer["error"]?["details"]?.array?.compactMap { $0["name"]?.string } ?? []
            #expect(Set(names) == ["name", "description", "rules.0.verdict", "budget.session_tokens"])
            for body in [[:], ["name": "  "]] as [JSON] {
                _ = try await gateway.json(.post, "/v1/projects", body, status: 422)
            }
            for query in ["page=0", "per_page=101", "page=x", "per_page=-1"] {
                _ = try await gateway.json(.get, "/v1/projects?\(query)", status: 422)
            }
        }
    }

    @Test("Pages continue until there is no next page")
    func pages() async throws {
        try await withGateway { gateway in
            for number in 0..<5 { _ = try await gateway.makeProject("p\(number)") }
            var names: [String] = []
            var page = 1
            while true {
                let list = try await gateway.json(.get, "/v1/projects?per_page=2&page=\(page)")
                names += list["data"]?.array?.compactMap { $0["name"]?.string } ?? []
                #expect(list["pagination"]?["has_prev"] == .bool(page > 1))
                guard list["pagination"]?["has_next"] == true else { break }
                page += 1
            }
            #expect(page == 3 && Set(names) == ["p0", "p1", "p2", "p3", "p4"])
        }
    }
}
