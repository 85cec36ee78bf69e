import JSON

/// What we answer to requests of the command.
enum ClaudeReply {
    static func allow(_ id: String, _ input: JSON) -> JSON {
        success(id, ["behavior": "allow", "updatedInput": input])
    }

    static func deny(_ id: String, _ words: String) -> JSON {
        success(id, ["behavior": "deny", "message": .string(words)])
    }

    /// Has the command ask whether it may do the call that it is about to do.
    static func hook(_ id: String) -> JSON {
        success(id, ["hookSpecificOutput": ["hookEventName": "PreToolUse", "permissionDecision": "ask"]])
    }

    private static func success(_ id: String, _ response: JSON) -> JSON {
        [
            "type": "control_response",
            "response": ["subtype": "success", "request_id": .string(id), "response": response],
        ]
    }

    static func error(_ id: String, _ words: String) -> JSON {
        [
            "type": "control_response",
            "response": [
                "subtype": "error", "request_id": .string(id), "error": .string(words),
                "error_code": "unsupported_request",
            ],
        ]
    }

    /// Why somebody does not allow a call.
    static func words(_ reason: String?) -> String {
        "the user does not allow this call" + (reason.map { ": \($0)" } ?? "")
    }
}
