import CoreTesting
import GatewayAPI
import HTTPClient
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import Testing

@Suite("The OpenAPI document", .timeLimit(.minutes(30))) struct DocumentTests {
    @Test("The document is valid and has every route that is not hidden")
    func valid() async throws {
        try await withGateway { gateway in
            let text = try await gateway.send(.get, "/openapi.json").text
            let program = """
                import json, sys
                from openapi_spec_validator import validate
                document = json.load(sys.stdin)
                validate(document)
                for path, item in document["paths"].items():
                    for method in item: print(method.upper(), path)
                """
            let output = try await PythonPeer.output(source: program, input: Array(text.utf8))
            let documented = Set(output.split(separator: "\n").map(String.init))
            #expect(documented == Set(try Self.documented(gateway)))
            for name in [
                "GET /health", "GET /v1/models", "GET /v1/models/{id}", "GET /v1/models/capabilities",
                "GET /v1/projects", "POST /v1/projects", "GET /v1/projects/{id}", "DELETE /v1/projects/{id}",
                "GET /v1/sessions", "POST /v1/sessions", "GET /v1/sessions/{id}", "DELETE /v1/sessions/{id}",
                "GET /v1/sessions/stats", "POST /v1/chat/completions",
                "GET /v1/chat/completions/{session}/status", "DELETE /v1/chat/completions/{session}",
                "POST /v1/chat/completions/debug", "GET /v1/mcp/servers", "GET /v1/mcp/servers/{id}/tools",
                "POST /v1/sessions/{id}/tools",
            ] {
                #expect(documented.contains(name), "\(name)")
            }
        }
    }

    @Test("The document has the constraints that only the handlers check")
    func limits() async throws {
        try await withGateway { gateway in
            let paths = try await gateway.json(.get, "/openapi.json")["paths"]
            func body(_ path: String) -> JSON? {
                paths?[path]?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]?["properties"]
            }
            func query(_ path: String, _ name: String) -> JSON? {
                paths?[path]?["get"]?["parameters"]?.array?.first { $0["name"]?.string == name }?["schema"]
            }
            #expect(body("/v1/chat/completions")?["messages"]?["minItems"] == 1)
            #expect(body("/v1/chat/completions")?["max_tokens"]?["minimum"] == 1)
            #expect(body("/v1/messages")?["messages"]?["minItems"] == 1)
            #expect(body("/v1/responses")?["input"]?["anyOf"] != nil)
            let last = body("/v1/chat/completions")?["messages"]?["items"]?["anyOf"]?.array?.last
            #expect(last?["required"] == ["role", "tool_call_id"])
            #expect(query("/v1/projects/{id}/search", "glob")?["minLength"] == 1)
            #expect(body("/v1/projects")?["name"]?["pattern"] != nil)
            let scopes = body("/v1/projects")?["rules"]?["items"]?["properties"]?["scope"]?["anyOf"]?[0]?["enum"]?
                .array
            #expect(scopes?.isEmpty == false && scopes?.contains("once") == false)
            #expect(query("/v1/projects/{id}/search", "pattern")?["minLength"] == 1)
            #expect(query("/v1/usage", "from")?["format"] == "date")
            #expect(query("/v1/projects/{id}/files", "path")?["pattern"] != nil)
        }
    }

    private static func documented(_ gateway: TestGateway) throws -> [String] {
        try gatewayRoutes(gateway.services).filter { !$0.isHidden }.map { route in
            "\(route.method) \(route.template.replacing("...}", with: "}"))"
        }
    }

    /// What the document cannot express: the last message of an agent turn must be the user's and not empty. Some
    /// members depend on the model at the vendor's server. A regular expression must be valid for PCRE2.
    private static let hooks = """
        import re
        import schemathesis

        def compiles(pattern):
            try: re.compile(pattern)
            except (re.error, OverflowError, RecursionError): return False
            return True

        def asks(message):
            said = message.get("content") if isinstance(message, dict) and message.get("role") == "user" else None
            if isinstance(said, list):
                return any(isinstance(part, dict) and part.get("text") for part in said)
            return bool(said)

        def foreign(body):
            tools, choice = body.get("tools"), body.get("tool_choice")
            kinds = [tool.get("type") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
            ours = (None, "custom", "function", "auto", "any", "none", "tool")
            return any(kind not in ours for kind in kinds + [choice.get("type") if isinstance(choice, dict) else None])

        @schemathesis.hook
        def filter_case(context, case):
            pattern = (case.query or {}).get("pattern")
            if isinstance(pattern, str) and not compiles(pattern):
                return False
            body = case.body
            if not isinstance(body, dict):
                return True
            if foreign(body):
                return False
            isRich = (case.headers or {}).get("X-Martlet-Dialect") == "rich"
            if not isRich and not any(name in body for name in ("project_id", "session_id", "mcp")):
                return True
            said = [body[name] for name in ("conversation", "messages", "input") if isinstance(body.get(name), list)]
            return all(not messages or asks(messages[-1]) for messages in said)
        """

    /// A failed precondition and a range beyond the end are not errors of a request. Response times on a busy machine
    /// do not count.
    private static let configuration = """
        [checks]
        max_response_time = 600
        [checks.positive_data_acceptance]
        expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "412", "416", "429", "5xx"]
        [checks.negative_data_rejection]
        expected-statuses = ["400", "401", "403", "404", "405", "412", "413", "415", "422", "429", "5xx"]
        """

    @Test("Schemathesis finds no difference between the document and the accepted requests and responses")
    func schemathesis() async throws {
        let program = """
            import os, subprocess, sys, tempfile
            folder = tempfile.mkdtemp(dir=sys.argv[5])
            open(folder + "/hooks.py", "w").write(sys.argv[6])
            open(folder + "/schemathesis.toml", "w").write(sys.argv[7])
            run = subprocess.run([
                os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", sys.argv[1] + "/openapi.json",
                "-H", "Authorization: Bearer " + sys.argv[2], "--checks", "all",
                "--phases", "examples,coverage,fuzzing", "--max-examples", sys.argv[3], "--seed", sys.argv[4],
                "--no-color", "--request-timeout", "600",
                "--generation-database", "none", "--suppress-health-check", "all"], capture_output=True, text=True,
                cwd=folder, stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": folder, "SCHEMATHESIS_HOOKS": "hooks"})
            print(run.returncode)
            print(run.stdout[-20000:], run.stderr[-2000:])
            """
        // A fixed seed makes runs repeatable.
        let seed = 7
        try await withGateway { gateway in
            let output = try await PythonPeer.output(
                source: program,
                [
                    gateway.url, TestGateway.token, "\(Rounds.of(15))", "\(seed)", gateway.folder, Self.hooks,
                    Self.configuration,
                ],
                limit: .seconds(1700))
            #expect(output.hasPrefix("0\n"), "seed \(seed): \(output)")
            #expect(output.contains("Tested: \(try Self.documented(gateway).count)"), "seed \(seed): \(output)")
        }
    }

    @Test("The responses of a typical workflow match the document")
    func answers() async throws {
        let program = """
            import json, sys
            import httpx
            from jsonschema import Draft202012Validator
            client = httpx.Client(base_url=sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]}, trust_env=False, timeout=600)
            document = client.get("/openapi.json").json()
            def resolved(part):
                while "$ref" in part:
                    found = document
                    for name in part["$ref"].split("/")[1:]: found = found[name]
                    part = found
                return part
            seen = set()
            def call(method, path, body=None, template=None, **more):
                answer = client.request(method, path, json=body, **more)
                place = document["paths"][template or path.partition("?")[0]][method.lower()]["responses"]
                found = resolved(place[str(answer.status_code)])
                if found.get("content"):
                    kind = answer.headers["content-type"].partition(";")[0]
                    media = found["content"][kind]
                    if "schema" in media:
                        for error in Draft202012Validator(resolved(media["schema"])).iter_errors(answer.json()):
                            print(method, path, answer.status_code, error.json_path, error.message)
                seen.add(method + " " + (template or path.partition("?")[0]))
                return answer.json() if answer.headers.get("content-type", "").startswith("application/json") else answer
            hello = [{"role": "user", "content": "hello"}]
            rule = {"verdict": "allow", "tool": "fs.write"}
            project = call("POST", "/v1/projects", {"name": "a", "rules": [rule], "budget": {"session_tokens": 10000}})["id"]
            session = call("POST", "/v1/sessions", {"project_id": project, "title": "t", "mcp": {"priority": ["files"]}})["id"]
            one, other = "/v1/projects/{id}", "/v1/sessions/{id}"
            call("POST", "/v1/chat/completions", {"model": "test/caller", "session_id": session,
                "messages": [{"role": "user", "content": "ls {}"}]})
            call("POST", "/v1/chat/completions", {"model": "test/thinker", "messages": hello})
            call("POST", "/v1/chat/completions", {"model": "test/echo", "messages": hello, "stream": True})
            call("POST", "/v1/chat/completions/debug", {"model": "test/echo", "messages": hello, "max_tokens": 5})
            call("POST", "/v1/responses", {"model": "test/echo", "input": "hello"})
            call("POST", "/v1/embeddings", {"model": "test/vectors", "input": "hello"})
            call("POST", "/v1/messages", {"model": "test/thinker", "max_tokens": 50, "messages": hello})
            call("POST", "/v1/messages/count_tokens", {"model": "test/echo", "messages": hello})
            for path in ["/health", "/", "/metrics", "/v1/models", "/v1/models/capabilities", "/v1/projects?search=a",
                    "/v1/sessions?project_id=" + project, "/v1/sessions/stats", "/v1/mcp/servers?project_id=" + project,
                    "/v1/usage?by=model", "/v1/usage?by=session"]:
                call("GET", path)
            call("GET", "/v1/models/test%2Fecho", template="/v1/models/{id}")
            call("GET", "/v1/models/none", template="/v1/models/{id}")
            call("GET", "/v1/mcp/servers/files/tools?project_id=" + project, template="/v1/mcp/servers/{id}/tools")
            call("GET", "/v1/projects/" + project, template=one)
            call("PATCH", "/v1/projects/" + project, {"description": "b"}, template=one)
            call("PATCH", "/v1/projects/" + project, {"description": 5, "name": 5}, template=one)
            for part in ["", "/messages", "/audit", "/approvals"]:
                call("GET", "/v1/sessions/" + session + part, template=other + part)
            call("POST", "/v1/sessions/" + session + "/tools", {"enabled_tools": ["fs.read"]}, template=other + "/tools")
            call("POST", "/v1/sessions/" + session + "/approvals/x", {"allow": True}, template=other + "/approvals/{approval}")
            call("GET", "/v1/chat/completions/" + session + "/status", template="/v1/chat/completions/{session}/status")
            call("DELETE", "/v1/chat/completions/" + session, template="/v1/chat/completions/{session}")
            files = "/v1/projects/" + project + "/files"
            call("PUT", files + "/a/b.txt", template=one + "/files/{path}", content=b"one\\ntwo\\n")
            call("GET", files + "/a/b.txt", template=one + "/files/{path}", headers={"Range": "bytes=1-2"})
            call("GET", files + "/none", template=one + "/files/{path}")
            call("GET", files + "?depth=3", template=one + "/files")
            call("GET", files + "?glob=**/*.txt", template=one + "/files")
            call("GET", "/v1/projects/" + project + "/search?pattern=two", template=one + "/search")
            call("DELETE", "/v1/sessions/" + session, template=other)
            call("DELETE", "/v1/projects/" + project, template=one)
            for path, item in document["paths"].items():
                for method in item:
                    if method.upper() + " " + path not in seen: print("not seen:", method.upper(), path)
            print("answers", len(seen))
            """
        try await withGateway { gateway in
            let output = try await PythonPeer.output(source: program, [gateway.url, TestGateway.token])
            #expect(output == "answers \(try Self.documented(gateway).count)\n")
        }
    }
}
