import Bundles
import JSON

/// One bundle of a run: the one that was started, or one that a step runs.
struct Level: Sendable {
    let bundle: Bundle
    let inputs: JSONObject
    let environment: JSONObject
    /// What stands before the keys of its steps, such as `outer/`.
    let prefix: String
    /// Those of this bundle and of all around it; each of them has to agree.
    let permissions: [BundlePermissions]
    /// What `run` stands for.
    let run: JSONObject
}
