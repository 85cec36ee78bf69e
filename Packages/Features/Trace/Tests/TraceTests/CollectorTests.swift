import Capabilities
import CoreTesting
import JSON
import Registry
import Settings
import Testing
import TraceExport
import TraceKit

@testable import Trace

@Suite("Which collector gets the traces")
struct CollectorTests {
    private func collector(
        _ variables: [String: String], for signal: OTLPSignal = .traces
    ) throws -> Collector? {
        try CollectorVariables(variables).collector(for: signal) { "/here/\($0)" }
    }

    @Test("The variables name the address as the standard says")
    func addresses() throws {
        let base = "OTEL_EXPORTER_OTLP_ENDPOINT"
        #expect(try collector([:]) == nil && collector([base: ""]) == nil)
        #expect(try collector([base: "http://c:4318"])?.address == "http://c:4318/v1/traces")
        #expect(try collector([base: "http://c/otlp/"])?.address == "http://c/otlp/v1/traces")
        #expect(try collector([base: "http://c/v1/traces"])?.address == "http://c/v1/traces")
        let own = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t/in", base: "http://c"]
        #expect(try collector(own)?.address == "https://t/in")
        #expect(try collector(["OTEL_TRACES_EXPORTER": "otlp"])?.address == "http://localhost:4318/v1/traces")
        #expect(try collector(["OTEL_TRACES_EXPORTER": "none", base: "http://c"]) == nil)
        #expect(try collector(["OTEL_TRACES_EXPORTER": "console, otlp", base: "http://c"]) != nil)
        #expect(try collector(["OTEL_SDK_DISABLED": "TRUE", base: "http://c"]) == nil)
        #expect(try collector(["OTEL_SDK_DISABLED": "yes", base: "http://c"]) != nil)
    }

    @Test(
        "The log and metrics have variables of their own, and else those of all",
        arguments: [OTLPSignal.logs, .metrics])
    func signals(signal: OTLPSignal) throws {
        let (base, word) = ("OTEL_EXPORTER_OTLP_ENDPOINT", signal.rawValue.uppercased())
        func address(_ variables: [String: String]) throws -> String? {
            try collector(variables, for: signal)?.address
        }
        #expect(try address([:]) == nil)
        #expect(try address([base: "http://c/"]) == "http://c/v1/\(signal)")
        #expect(try address([base: "http://c/in/v1/traces"]) == "http://c/in/v1/\(signal)")
        #expect(try address([base: "http://c/v1/\(signal)"]) == "http://c/v1/\(signal)")
        #expect(try address([base: "http://c/in?key=1"]) == "http://c/in/v1/\(signal)?key=1")
        let own = [base: "http://c", "OTEL_EXPORTER_OTLP_\(word)_ENDPOINT": "https://own/in"]
        #expect(try address(own) == "https://own/in" && collector(own)?.address == "http://c/v1/traces")
        #expect(try address(["OTEL_\(word)_EXPORTER": "otlp"]) == "http://localhost:4318/v1/\(signal)")
        #expect(try address([base: "http://c", "OTEL_\(word)_EXPORTER": "none"]) == nil)
        #expect(try address([base: "http://c", "OTEL_TRACES_EXPORTER": "none"]) != nil)
        let options = try #require(
            try collector(
                [
                    base: "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
                    "OTEL_EXPORTER_OTLP_\(word)_PROTOCOL": "http/protobuf",
                    "OTEL_EXPORTER_OTLP_\(word)_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_\(word)_TIMEOUT": "50",
                ], for: signal))
        #expect(options.encoding == .protobuf && !options.compresses && options.timeout == .milliseconds(50))
        let secrets = CollectorVariables(["OTEL_EXPORTER_OTLP_\(word)_HEADERS": "a=hunter2hunter2"]).secrets
        #expect(secrets.contains { $0.equals(Secret("hunter2hunter2")) })
    }

    @Test("Metrics are sent as often as the setting or the variable says, or else each minute")
    func interval() throws {
        func interval(_ text: String, _ variable: String? = nil) throws -> Duration {
            let layer = try SettingsLayer(origin: .user(file: "u"), text: Array(text.utf8))
            let catalogue = SettingsCatalogue(of: [BuiltInFeature(TraceFeature.self)])
            let settings = Settings(merging: [layer], overrides: [], catalogue: catalogue) { _, _ in true }
            return CollectorSettings(settings.view(for: "trace")).interval(
                CollectorVariables(variable.map { ["OTEL_METRIC_EXPORT_INTERVAL": $0] } ?? [:]))
        }
        #expect(try interval("{}") == .seconds(60) && interval("{}", "5000") == .seconds(5))
        #expect(try interval("{}", "soon") == .seconds(60) && interval("{}", "-1") == .seconds(60))
        #expect(try interval("{}", "5") == .seconds(1))
        #expect(try interval("{trace: {'metrics-interval': '10s'}}", "5000") == .seconds(10))
    }

    @Test("They say how it is spoken to, and what cannot be done is told")
    func options() throws {
        let all = try #require(
            try collector([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_CERTIFICATE": "ca.pem",
                "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "me.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY": "key.pem",
            ]))
        #expect(all.encoding == .json && !all.compresses && all.timeout == .milliseconds(2_500))
        #expect(all.authorities == "/here/ca.pem" && all.identity?.key == "/here/key.pem")
        for (name, value) in [
            ("PROTOCOL", "grpc"), ("PROTOCOL", "x"), ("COMPRESSION", "zstd"), ("TIMEOUT", "soon"), ("TIMEOUT", "-1"),
        ] {
            let error = #expect(throws: TraceExportError.self) {
                try collector(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_\(name)": value])
            }
            #expect(error?.message.contains(name) == true && error?.exit == .usage)
        }
    }

    @Test("Headers are read from a list, and one that cannot be read is not quoted")
    func headers() throws {
        let lines = try CollectorHeaders.lines(
            of: Secret(" authorization=Bearer%20a%3Db , x-team = 7,, x=a=b"), from: "it")
        #expect(
            lines.map { "\($0.name): \($0.value.withText { $0 })" } == [
                "authorization: Bearer a=b", "x-team: 7", "x: a=b",
            ])
        for list in ["hunter2hunter2", "=hunter2hunter2", "x=%zzhunter2hunter2"] {
            let error = #expect(throws: TraceExportError.self) {
                try CollectorHeaders.lines(of: Secret(list), from: "it")
            }
            #expect(error?.message.contains("hunter2") == false)
        }
        let secrets = CollectorVariables(["OTEL_EXPORTER_OTLP_HEADERS": "a=hunter2hunter2"]).secrets
        #expect(secrets.count == 1 && secrets[0].equals(Secret("hunter2hunter2")))
        let bearer = CollectorVariables(["OTEL_EXPORTER_OTLP_HEADERS": "a=Bearer%20hunter2hunter2"]).secrets
        #expect(bearer.contains { $0.equals(Secret("hunter2hunter2")) })
    }

    @Test("The sampler and the facts about the program are those of the variables")
    func program() {
        func ratio(_ sampler: String, _ argument: String = "") -> Double? {
            CollectorVariables(["OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": argument]).ratio
        }
        #expect(ratio("always_on") == 1 && ratio("parentbased_always_off") == 0 && ratio("jaeger_remote") == nil)
        #expect(ratio("traceidratio", "0.25") == 0.25 && ratio("parentbased_traceidratio") == 1)
        #expect(ratio("traceidratio", "7") == 1 && ratio("") == nil)
        func facts(_ list: String, _ name: String = "") -> JSONObject {
            CollectorVariables(["OTEL_RESOURCE_ATTRIBUTES": list, "OTEL_SERVICE_NAME": name]).resource
        }
        #expect(facts("a=b%20c,service.name=x", "y") == ["a": "b c", "service.name": "y"])
        #expect(facts("a=b,c") == [:] && facts("a=%zz", "y") == ["service.name": "y"])
    }

    private func choice(
        _ layers: [(SettingsOrigin, String)], _ variables: [String: String] = [:], for signal: OTLPSignal = .traces,
        isTrusted: Bool = true
    ) throws -> Collector? {
        let catalogue = SettingsCatalogue(of: [BuiltInFeature(TraceFeature.self)])
        let read = try layers.map { try SettingsLayer(origin: $0.0, text: Array($0.1.utf8)) }
        let settings = Settings(merging: read, overrides: [], catalogue: catalogue) { _, _ in isTrusted }
        #expect(settings.problems.isEmpty)
        return try CollectorSettings(settings.view(for: "trace")).choice(
            for: signal, CollectorVariables(variables), in: Surroundings.none.locations
        ).get()
    }

    @Test("A project names a collector only once it is trusted, and then gets none of the person's headers")
    func projects() throws {
        let (person, project) = (SettingsOrigin.user(file: "u"), SettingsOrigin.project(file: "p"))
        let theirs = (project, #"{trace: {endpoint: "http://evil"}}"#)
        #expect(try choice([theirs], isTrusted: false) == nil)
        #expect(try choice([theirs])?.address == "http://evil/v1/traces")
        let mine = (person, #"{trace: {endpoint: "http://mine", headers: "otel"}}"#)
        func hasHeaders(_ collector: Collector?) -> Bool {
            if case .stored? = collector?.headers { true } else { false }
        }
        #expect(try hasHeaders(choice([mine])))
        #expect(try choice([mine, theirs])?.address == "http://evil/v1/traces")
        #expect(try !hasHeaders(choice([mine, theirs])))
        #expect(try hasHeaders(choice([mine, theirs], isTrusted: false)))
        #expect(try hasHeaders(choice([mine, (project, #"{trace: {endpoint: "http://a", headers: "b"}}"#)])))
    }

    @Test("The settings come before the variables, whose headers are for their own address only")
    func order() throws {
        let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"]
        let layer = (
            SettingsOrigin.user(file: "u"), #"{trace: {endpoint: "http://s", protocol: "json", compress: false}}"#
        )
        let own = try #require(try choice([layer], variables))
        #expect(own.address == "http://s/v1/traces" && own.encoding == .json && !own.compresses)
        if case .none = own.headers {} else { Issue.record("headers of the environment go to another address") }
        #expect(try choice([], variables)?.address == "http://c/v1/traces")
        #expect(try choice([layer], ["OTEL_TRACES_EXPORTER": "none"]) == nil)
        #expect(try choice([layer], variables, for: .logs)?.address == "http://s/v1/logs")
        #expect(try choice([layer], ["OTEL_LOGS_EXPORTER": "none"], for: .logs) == nil)
        let few = (SettingsOrigin.user(file: "u"), #"{trace: {signals: ["traces"]}}"#)
        #expect(try choice([few], variables) != nil && choice([few], variables, for: .logs) == nil)
        // A project may not have more sent before it is trusted.
        let more = (SettingsOrigin.project(file: "p"), #"{trace: {signals: ["logs"]}}"#)
        #expect(try choice([few, more], variables, for: .logs, isTrusted: false) == nil)
        #expect(try choice([few, more], variables, for: .logs) != nil)
    }
}
