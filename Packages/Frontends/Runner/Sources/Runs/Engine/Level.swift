import Bundles
import Capabilities
import JSON

/// One bundle of a run: the one that was started, or one that a step runs.
///
/// Each of its steps has it, so that it is shared and not copied.
final class Level: Sendable {
    let bundle: Bundle
    let inputs: JSONObject
    let environment: JSONObject
    /// What stands before the keys of its steps, such as `outer/`.
    let prefix: String
    /// What this bundle and all around it permit.
    let grant: Grant
    /// What it and all around it can reach, as text: a result of before is only used again where that is the same.
    let reachable: [JSON]
    /// Whether it is run by a step of the end.
    let isEnd: Bool
    /// What `run` stands for.
    let run: JSONObject

    init(
        bundle: Bundle, inputs: JSONObject, environment: JSONObject, prefix: String, grant: Grant,
        reachable: [JSON], isEnd: Bool = false, run: JSONObject
    ) {
        (self.bundle, self.inputs, self.environment, self.prefix) = (bundle, inputs, environment, prefix)
        (self.grant, self.reachable, self.isEnd, self.run) = (grant, reachable, isEnd, run)
    }
}
