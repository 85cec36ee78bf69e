import FileKit
import Testing
import WorkspaceSupport

@Test("The packages have no forbidden dependency")
func hasNoForbiddenArrow() throws {
    #expect(try Workspace.current.packages().count >= 6)
    #expect(try ArchitectureGuard(.current).violations() == [])
}

@Test("A valid tree passes the guard")
func acceptsTreeInOrder() async throws {
    try await withTree { workspace in
        let (packages, violations) = (try workspace.packages(), try ArchitectureGuard(workspace).violations())
        #expect(packages.count == 7)
        #expect(violations == [])
    }
}

@Test("Each forbidden dependency is found, and nothing else", arguments: Arrow.forbidden)
func catches(_ arrow: Arrow) async throws {
    try await withTree { workspace in
        try write(arrow.text, to: arrow.path, in: workspace)
        let violations = try ArchitectureGuard(workspace).violations()
        #expect(violations == [arrow.violation])
    }
}

@Test(
    "An import is found in every notation",
    arguments: [
        "import Foundation", "    import Foundation", "public import Foundation", "@preconcurrency import Foundation",
        "@_spi(Host) @testable import Foundation", "import struct Foundation.Date",
        "private import func Foundation.exit",
        "import Foundation // for Date",
    ])
func findsImport(_ line: String) {
    #expect(importedModules(in: "let a = 1\n\(line)\n") == ["Foundation"])
}

@Test(
    "A comment or a string about an import is not an import",
    arguments: ["// import Foundation", "print(\"import Foundation\")"])
func ignoresTalkOfImports(_ line: String) {
    #expect(importedModules(in: line) == [])
}
