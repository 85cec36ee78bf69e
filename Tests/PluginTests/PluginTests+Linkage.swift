import Testing
import WorkspaceSupport

extension PluginTests {
    @Test("the released program links neither Foundation nor ICU and holds no code of them")
    func linksNoFoundation() async throws {
        let program = try await releasedProgram()
        let linkage = try await Linkage(of: program)
        #expect(linkage.contains("c"))
        let unwanted = linkage.needed.filter { $0.contains("Foundation") || $0.contains("icu") }
        #expect(unwanted == [])

        let symbols = try await clone.shell.run("nm", program)
        // The mangled names of the modules; the first is there to show that the symbols can be read.
        #expect(symbols.contains("$s8Registry"))
        for module in ["$s10Foundation", "$s20FoundationEssentials", "$s20FoundationNetworking", " ucol_"] {
            #expect(!symbols.contains(module), "\(module) is in the program")
        }
    }

    /// What `make install` built before the tests of programs, with its symbols; in the full matrix one with the features of the clone too.
    private func releasedProgram() async throws -> String {
        guard Subset.isFull else { return "\(Workspace.current.root)/.build/release/martlet" }
        try await clone.shell.run(
            "swift", "build", "--product", "martlet", "--configuration", "release", "--static-swift-stdlib")
        return "\(clone.workspace.root)/.build/release/martlet"
    }
}
