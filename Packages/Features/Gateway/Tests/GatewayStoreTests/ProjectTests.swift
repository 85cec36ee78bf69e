import Capabilities
import StorageKit
import Testing
import TurnLoop

@testable import GatewayStore

@Suite("Projects", .timeLimit(.minutes(5)))
struct ProjectTests {
    @Test("A project is stored with its rules and its budget")
    func create() async throws {
        try await withStore { store in
            let rules = [
                ApprovalRule(.allow, tool: "fs.*", source: "files", arguments: ["/path": "src/**"], scope: .project),
                ApprovalRule(.deny, tool: "bash.run"),
            ]
            let budget = ProjectBudget(
                project: BudgetLimit(tokens: 1_000_000), session: BudgetLimit(cost: Cost(nanodollars: 7)))
            let new = NewProject(name: "Sämple", description: "d", path: "/srv/x", rules: rules, budget: budget)
            let project = try await store.createProject(new)
            #expect(project.name == "Sämple" && project.description == "d" && project.path == "/srv/x")
            #expect(project.rules == rules && project.budget == budget && project.created == project.updated)
            #expect(try await store.project(project.id) == project)
            let row = ProjectRow(project: project, sessions: 0, usage: UsageSum(key: project.id))
            #expect(try await store.projectRow(project.id) == row)
            #expect(try await store.project("nothing") == nil)
            #expect(try await store.projectRow("nothing") == nil)
        }
    }

    @Test("A relative path and a blank name are refused")
    func invalid() async throws {
        try await withStore { store in
            for new in [NewProject(name: "a", path: "x/y"), NewProject(name: " \n", path: "/x")] {
                #expect(try await failure { try await store.createProject(new) } == .invalid)
            }
            let id = try await store.createProject(NewProject(name: "a", path: "/x")).id
            #expect(try await failure { try await store.updateProject(id, ProjectChange(name: "")) } == .invalid)
            #expect(try await store.projects().total == 1)
        }
    }

    @Test("The project of a folder is found by its path; of several the most recently used")
    func byPath() async throws {
        try await withStore { store in
            let first = try await store.createProject(NewProject(name: "a", path: "/srv/a"))
            let other = try await store.createProject(NewProject(name: "b", path: "/srv/a/b"))
            #expect(try await store.project(at: "/srv/a") == first)
            #expect(try await store.project(at: "/srv/a/b") == other)
            #expect(try await store.project(at: "/srv") == nil)
            let second = try await store.createProject(NewProject(name: "c", path: "/srv/a"))
            #expect(try await store.project(at: "/srv/a") == second)
            let used = try await store.updateProject(first.id, ProjectChange(name: "d"))
            #expect(try await store.project(at: "/srv/a") == used)
        }
    }

    @Test("A change leaves other values unchanged")
    func update() async throws {
        try await withStore { store in
            let project = try await store.createProject(NewProject(name: "a", description: "d", path: "/x"))
            let renamed = try await store.updateProject(project.id, ProjectChange(name: "b"))
            #expect(renamed.name == "b" && renamed.description == "d" && renamed.updated > project.updated)
            let budget = ProjectBudget(project: BudgetLimit(tokens: 5, cost: Cost(nanodollars: 6)))
            let rules = [ApprovalRule(.ask)]
            let changed = try await store.updateProject(
                project.id, ProjectChange(description: "e", rules: rules, budget: budget))
            #expect(changed.name == "b" && changed.description == "e" && changed.rules == rules)
            #expect(try await store.project(project.id)?.budget == budget)
            #expect(try await failure { try await store.updateProject("x", ProjectChange()) } == .notFound)
        }
    }

    @Test("An added rule replaces one for the same calls")
    func rules() async throws {
        try await withStore { store in
            let deny = ApprovalRule(.deny, tool: "bash.run", scope: .project)
            let other = ApprovalRule(.deny, tool: "bash.run", arguments: ["/command": "rm *"], scope: .project)
            let id = try await store.createProject(NewProject(name: "a", path: "/x", rules: [deny, other])).id
            let allow = ApprovalRule(.allow, tool: "bash.run", scope: .project)
            _ = try await store.openProject(NewProject(name: "a", path: "/x", rules: [allow]))
            #expect(try await store.project(id)?.rules == [other, allow])
            try await store.removeRules([other], ofProject: id)
            #expect(try await store.project(id)?.rules == [allow])
            #expect(try await failure { try await store.removeRules([allow], ofProject: "x") } == .notFound)
        }
    }

    @Test("The list starts with the most recently used, and search matches names, descriptions and paths literally")
    func list() async throws {
        try await withStore { store in
            var ids: [String] = []
            for (name, path) in [("alpha", "/srv/one"), ("50%_x", "/srv/two"), ("beta\\", "/srv/50")] {
                ids.append(
                    try await store.createProject(NewProject(name: name, description: "of \(name)", path: path)).id)
            }
            func names(_ search: String? = nil) async throws -> [String] {
                let page = try await store.projects(search: search)
                #expect(page.total == page.items.count)
                return page.items.map(\.project.name)
            }
            #expect(try await names() == ["beta\\", "50%_x", "alpha"])
            let session = try await store.createSession(NewSession(project: ids[0]))
            try await store.endTurn(try await store.beginTurn(session: session.id))
            #expect(try await names() == ["alpha", "beta\\", "50%_x"])
            #expect(try await names("ALPHA") == ["alpha"])
            #expect(try await names("%") == ["50%_x"])
            #expect(try await names("_") == ["50%_x"])
            #expect(try await names("\\") == ["beta\\"])
            #expect(try await names("50") == ["beta\\", "50%_x"])
            #expect(try await names("of a") == ["alpha"])
            #expect(try await names("'; DROP TABLE projects; --") == [])
            let second = try await store.projects(page: PageRequest(number: 2, size: 2))
            #expect(second.items.map(\.project.name) == ["50%_x"] && second.total == 3 && second.pages == 2)
            #expect(try await store.projects(page: PageRequest(number: .max, size: 100)).items.isEmpty)
        }
    }

    @Test("Deleting a project deletes its sessions and keeps their usage")
    func delete() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let project = try #require(session.project)
            try await store.talk("Hello", "Hi", in: session.id)
            let lease = try await store.beginTurn(session: session.id)
            #expect(try await failure { try await store.deleteProject(project) } == .busy)
            try await store.endTurn(lease)
            try await store.audit(AuditEntry(project: project, session: session.id, actor: "client", action: "x"))
            try await store.deleteProject(project)
            #expect(try await store.project(project) == nil)
            #expect(try await store.session(session.id) == nil)
            #expect(try await store.number("SELECT count(*) FROM messages") == 0)
            #expect(try await store.number("SELECT count(*) FROM turns") == 0)
            #expect(try await store.usage(by: .project).map(\.key) == [project])
            #expect(try await store.auditEntries(project: project)?.total == 1)
            #expect(try await failure { try await store.deleteProject(project) } == .notFound)
        }
    }
}
