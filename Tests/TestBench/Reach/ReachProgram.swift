import Capabilities
import Glibc
import HostKit
import JSON
import Registry

/// `test-bench reach '{"canary": …}'`: the features of the product, in which every action is performed with canaries. What
/// becomes of each is a line of JSON; what it really reached, only the system calls tell.
enum ReachProgram {
    /// - Parameter words: the arguments of `reach.perform` as one JSON object.
    static func run(_ words: [String]) -> Int32 {
        // Nothing hides this process's memory, as the product's start does: where nobody is root, no tracer could read the
        // arguments of its system calls then.
        let workbench = Workbench(
            name: "martlet", version: "1.0", features: BuiltInFeatures.all + [BuiltInFeature(ReachFeature.self)])
        return MainLoop.run { _ in await perform(words.first ?? "{}", in: workbench) }.rawValue
    }

    private static func perform(_ text: String, in workbench: Workbench) async -> ExitCode {
        do {
            _ = try await workbench.perform(
                try workbench.registry.actions.find("reach.perform"), try JSON(parsing: text).object ?? [:],
                as: .person(HeadlessInteraction()), output: LineOutput())
            return .done
        } catch {
            let line = "test-bench: \(AnyFailure(error).message)\n"
            _ = unsafe write(2, line, line.utf8.count)
            return .failed
        }
    }
}

/// Prints every event as a line of JSON.
private struct LineOutput: ActionOutput {
    func event(_ event: ActionEvent) async throws { print(event.json.text()) }
    func progress(_ progress: Progress) {}
    func notice(_ text: String) {}
}
