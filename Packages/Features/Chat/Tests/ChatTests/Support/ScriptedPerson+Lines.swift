import CoreTesting
import JSON

extension ScriptedPerson {
    /// A person who types these lines, in order.
    convenience init(types first: String, _ more: String...) {
        self.init(["chat.message": ([first] + more).map { .string($0) }])
    }
}
