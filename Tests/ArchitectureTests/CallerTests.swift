import Testing
import WorkspaceSupport

/// Whoever acts for somebody else may do no more. Only where a person sits at a surface, somebody begins with everything.
@Test("nobody is taken for the person but at a surface")
func personsAreAtSurfaces() throws {
    let workspace = Workspace.current
    let found = try ["Packages", "Apps"].flatMap { try workspace.files(in: $0, ending: ".swift") }.filter { file in
        file.contains("/Sources/") || file.hasPrefix("Apps/")
    }.filter { file in
        try workspace.text(file).contains(/\.person\(/)
    }
    #expect(
        found.sorted() == [
            "Packages/Core/Sources/CoreTesting/TestHost.swift",
            "Packages/Core/Sources/Registry/Lifecycle/WorkbenchSession.swift",
            "Packages/Frontends/CommandLine/Sources/CommandLineFrontend/Running/Command.swift",
        ])
}
