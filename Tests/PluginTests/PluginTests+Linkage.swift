import Testing
import WorkspaceSupport

extension PluginTests {
    @Test("the program with every feature links neither Foundation nor ICU")
    func linksNoFoundation() async throws {
        let program = try await clone.program(try Subset.everything().features)
        #expect(program.linkage.contains("c"))
        let unwanted = program.linkage.needed.filter { $0.contains("Foundation") || $0.contains("icu") }
        #expect(unwanted == [])
    }

    @Test("the released program holds no code of Foundation", .enabled(if: Subset.isFull, "for the full matrix only"))
    func releaseHoldsNoFoundation() async throws {
        try await clone.shell.run(
            "swift", "build", "--product", "martlet", "--configuration", "release", "--static-swift-stdlib")
        let symbols = try await clone.shell.run("nm", ".build/release/martlet")
        // The mangled names of the modules; the first is there to show that the symbols can be read.
        #expect(symbols.contains("$s8Registry"))
        for module in ["$s10Foundation", "$s20FoundationEssentials", "$s20FoundationNetworking", " ucol_"] {
            #expect(!symbols.contains(module), "\(module) is in the program")
        }
    }
}
