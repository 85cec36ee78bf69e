import Capabilities
import JSON
import RunReports
import Screens
import Testing

@testable import Runs

@Suite("Run progress", .timeLimit(.minutes(5)))
struct ProgressTests {
    /// The rows of the tree, each as its state and its words, and the line that sums it up.
    private func rows(_ tree: RunTree, after time: Duration = .zero) -> [String] {
        func rows(_ node: Tree.Node, _ depth: Int) -> [String] {
            ["\(String(repeating: " ", count: depth))\(node.state ?? ""): \(node.label.plain)"]
                + node.children.flatMap { rows($0, depth + 1) }
        }
        return tree.block(at: time).children.flatMap { block -> [String] in
            switch block.content {
            case .tree(let tree): tree.nodes.flatMap { rows($0, 0) }
            case .text(let text): [text.plain]
            default: []
            }
        }
    }

    private func tree(_ events: [RunEvent]) -> RunTree {
        var tree = RunTree()
        for event in events { tree.receive(event, at: .zero) }
        return tree
    }

    @Test("The tree has running, failed and waiting steps")
    func states() {
        let tree = tree([
            .began(facts(["fetch", "ask", "tell"])), .step(update("fetch", .ok)),
            .step(update("ask[model=a]", .running)),
            .step(update("ask[model=b]", .failed, StepError(code: "x", message: "no answer"))),
        ])
        #expect(
            rows(tree) == [
                "ok: fetch  1.0 s", "running: ask  1 of 2, 1 failed", " running: [model=a]",
                " failed: [model=b]  1.0 s  no answer", "waiting: tell", "demo  1/3  1 running",
            ])
    }

    @Test("A step that is allowed to fail is a warning") func forgiven() {
        var failed = update("fetch", .failed, StepError(code: "x", message: "no answer"))
        failed.outcome.isForgiven = true
        let tree = tree([.began(facts(["fetch"])), .step(failed)])
        #expect(rows(tree).first == "warning: fetch  1.0 s  no answer")
        #expect(tree.isStill)
    }

    @Test("The tree has the time of running steps after one second, and of finished steps always")
    func elapsed() {
        let tree = tree([
            .began(facts(["fetch", "ask"])), .step(update("fetch", .ok, took: .milliseconds(15))),
            .step(update("ask", .running)),
        ])
        #expect(!tree.isStill)
        #expect(
            rows(tree, after: .milliseconds(999)) == ["ok: fetch  15 ms", "running: ask", "demo  1/2  1 running"])
        #expect(
            rows(tree, after: .seconds(1)) == [
                "ok: fetch  15 ms", "running: ask  1.0 s", "demo  1/2  1 running  1.0 s",
            ])
    }

    @Test("The tree has the number of runs of a step from the start") func spread() {
        var tree = tree([
            .began(facts(["ask", "inner"])), .spread(step: "ask", count: 3), .step(update("ask[model=a]", .running)),
            .step(update("inner", .running)), .spread(step: "inner", count: 2),
        ])
        #expect(rows(tree).contains("running: ask  0 of 3") && rows(tree).contains("running: inner  0 of 2"))
        tree.receive(.step(update("ask[model=a]", .ok)), at: .zero)
        #expect(rows(tree).contains("running: ask  1 of 3"))
    }

    @Test("The tree stays small, however large the matrix or the bundle is")
    func wide() {
        var tree = tree([.began(facts((0..<5_000).map { "step-\($0)" } + ["ask"]))])
        for index in 0..<4_000 { tree.receive(.step(update("step-\(index)", .ok)), at: .zero) }
        for index in 0..<1_000 {
            tree.receive(.step(update("ask[n=\(index)]", index < 990 ? .ok : .running)), at: .zero)
        }
        let rows = rows(tree)
        #expect(rows.count == 500 + 4 + 2)
        #expect(rows.contains("running: ask  990 of 1000") && rows.contains("ok: step-3999  1.0 s"))
        #expect(rows.suffix(2) == ["… and 4501 more", "demo  4000/5001  1 running"])
    }

    @Test("The outputs of a run are printed as readable lines") func outputs() {
        var summary = summary([])
        summary.outputs = ["file": "a.md", "count": 3, "none": .null, "review": "First\n\nLast", "all": ["x"]]
        #expect(
            PlainProgress.outputs(summary)
                == ["file: a.md", "count: 3", "review:", "  First", "", "  Last", #"all: ["x"]"#])
    }

    @Test("Plain progress has a line for each start and each end")
    func plain() {
        #expect(PlainProgress.line(.step(update("a", .running))) == "  starts    a: demo.act")
        #expect(
            PlainProgress.line(
                .step(update("a", .failed, StepError(code: "c", message: "no way"), took: .milliseconds(1_234))))
                == "  failed    a (1.2 s): no way")
        #expect(
            PlainProgress.end(summary([update("a", .ok), update("b", .ok), update("c", .skipped)]))
                == "demo ok in 4.0 s, run 20261120t101500-abcd: 2 ok, 1 skipped")
    }
}
