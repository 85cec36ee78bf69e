import CoreTesting
import HostTesting
import JSON
import Screens
import Testing

@testable import Runner

@Suite("The tree of a run", .timeLimit(.minutes(5)))
struct ShownTreeTests {
    private let bundle = """
        name: story
        steps:
          - {id: greet, action: lab.echo, with: {value: "Hello", say: hi}}
          - {id: fail, action: run.expect, with: {that: false}, continue-on-error: true}
        """

    @Test("Whoever watches sees the steps as a tree, and reads only the end")
    func watched() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.isWatched = true
            _ = try await bench.run(bundle)
            let last = try #require(bench.output.blocks.last)
            let nodes = last.children.flatMap { block -> [Tree.Node] in
                if case .tree(let tree) = block.content { tree.nodes } else { [] }
            }
            let states = nodes.map { "\($0.id) \($0.state ?? "")" }
            #expect(states == ["greet ok", "fail warning"])
            #expect(bench.output.text.hasPrefix("story ok in "), "\(bench.output.text)")
        }
    }

    @Test("Where nobody sees the tree, there is a line for each step")
    func unwatched() async throws {
        try await TestWorkbench.withRunner { bench in
            _ = try await bench.run(bundle)
            #expect(bench.output.blocks.isEmpty)
            #expect(bench.output.text.contains("  starts    greet: lab.echo\n"), "\(bench.output.text)")
        }
    }
}
