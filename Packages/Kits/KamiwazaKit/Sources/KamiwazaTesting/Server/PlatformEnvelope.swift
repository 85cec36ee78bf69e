import HTTPServer
import JSON

/// Errors as the platform writes them: `{"detail": "…"}`, or a list with the place of every wrong value.
enum PlatformEnvelope {
    static let json: @Sendable (ProblemReport) -> JSON = { report in
        guard !report.inputs.isEmpty else { return ["detail": .string(report.message)] }
        return [
            "detail": .array(
                report.inputs.map { input in
                    let place = [input.place, input.name].filter { !$0.isEmpty }
                    return [
                        "loc": .array(place.map { .string($0) }), "msg": .string(input.message), "type": "value_error",
                    ]
                })
        ]
    }
}
