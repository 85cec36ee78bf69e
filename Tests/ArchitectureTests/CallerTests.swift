import Testing
import WorkspaceSupport

/// Only a surface at which a person sits may make a caller who may do everything; all others narrow the caller they have.
@Test("Only surfaces create a caller for the person")
func personsAreAtSurfaces() throws {
    let workspace = Workspace.current
    let found = try ["Packages", "Apps"].flatMap { try workspace.files(in: $0, ending: ".swift") }.filter { file in
        file.contains("/Sources/") || file.hasPrefix("Apps/")
    }.filter { file in
        try workspace.text(file).contains(/\.person\(/)
    }
    #expect(
        found.sorted() == [
            // They measure what a person has, and are not installed.
            "Apps/bench/SandboxBenchmark.swift", "Apps/bench/SessionBenchmark.swift",
            "Apps/bench/TraceQueryBenchmark.swift",
            "Packages/Core/Sources/CoreTesting/TestHost.swift",
            "Packages/Core/Sources/Registry/Lifecycle/WorkbenchSession.swift",
            "Packages/Core/Sources/Registry/Screens/OpenScreen.swift",
            // A server that runs belongs to the person who set it up or agreed to it, whoever needed it first. What others
            // may ask of it is decided before it is asked.
            "Packages/Features/MCP/Sources/MCPServers/Connections/LiveServer.swift",
            // The person has set a collector up, so that traces go to it by themselves: to its address, and nowhere else.
            "Packages/Features/Trace/Sources/Trace/Collectors/CollectorLink.swift",
            "Packages/Frontends/CommandLine/Sources/CommandLineFrontend/Running/Command.swift",
            "Packages/Frontends/Host/Sources/HostTesting/TestWorkbench.swift",
        ])
}
