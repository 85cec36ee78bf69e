import Bundles
import JSON

/// What was decided about a step when its time had come.
struct StepStart: Sendable {
    let step: Step
    let key: String
    let decision: Decision

    enum Decision: Sendable {
        case run(Instances)
        /// It does not run, for the reason that the outcome gives.
        case settled(StepOutcome)
        /// It was done in an earlier part of the run.
        case restored(StepOutcome)
    }

    var isRestored: Bool {
        if case .restored = decision { true } else { false }
    }

    enum Instances: Sendable {
        case one(StepInstance)
        case many([StepInstance])
    }

    init(_ step: Step, _ key: String, _ decision: Decision) {
        self.step = step
        self.key = key
        self.decision = decision
    }
}

/// One run of a step, with what it is given.
struct StepInstance: Sendable {
    let key: String
    let arguments: JSONObject
    /// What has to be the same for an earlier result to count; nil where none does.
    let cacheKey: JSON?
}
