import Bundles
import Capabilities

// Spans of runs and steps, in OpenTelemetry's words for pipelines.

/// Records a run.
nonisolated(nonsending) func traced(
    _ bundle: Bundle, _ id: RunID, _ run: nonisolated(nonsending) () async throws -> RunSummary
) async throws -> RunSummary {
    try await Tracer.current.span("RUN \(bundle.name)", of: "runner") { span in
        span.set(.pipelineName, .string(bundle.name))
        span.set(.pipelineRun, .string(id.text))
        let summary = try await run()
        let isLate = summary.error?.code == "bundle.timed-out"
        span.set(.pipelineResult, .string(isLate ? "timeout" : summary.status.word))
        if summary.status == .failed { span.fail(summary.error?.code ?? "bundle.failed") }
        return summary
    }
}

/// Records an attempt of a step. The values that a step runs for are not recorded.
nonisolated(nonsending) func traced(
    _ step: Step, attempt: Int = 1, _ run: nonisolated(nonsending) () async -> StepOutcome
) async -> StepOutcome {
    await Tracer.current.span("step \(step.id)", of: "runner") { span in
        span.set(.taskName, .string(step.id))
        span.set("martlet.step.kind", .string(step.work.kind))
        span.set("martlet.step.attempt", .int(attempt))
        let outcome = await run()
        span.set(.taskResult, .string(outcome.status.word))
        if outcome.status == .failed { span.fail(outcome.error?.code ?? "bundle.failed") }
        return outcome
    }
}

extension Step.Work {
    fileprivate var kind: String {
        switch self {
        case .action: "action"
        case .bundle: "bundle"
        }
    }
}

extension RunSummary.Status {
    fileprivate var word: String {
        switch self {
        case .running: "running"
        case .ok: "success"
        case .failed: "failure"
        case .cancelled: "cancellation"
        }
    }
}

extension StepStatus {
    fileprivate var word: String {
        switch self {
        case .running: "running"
        case .ok: "success"
        case .failed: "failure"
        case .skipped, .blocked: "skip"
        case .cancelled: "cancellation"
        }
    }
}
