import Capabilities
import HTTPTesting
import JSON
import RunReports
import Testing

@testable import Runs

@Suite("JUnit report", .timeLimit(.minutes(5)))
struct JUnitTests {
    private let failed = StepError(code: "http.refused", message: hostile)

    @Test("A report is valid by Ant's schema, and a real parser reads the expected cases")
    func valid() async throws {
        let run = summary(
            [
                update("fetch", .ok), update("ask[model=\(hostile)]", .failed, failed, exit: 4),
                update("ask[model=b]", .ok), update("ask", .failed, failed, exit: 4),
                update("judge", .failed, StepError(code: "bundle.step-failed", message: "1 finding"), exit: 1),
                update("tell", .blocked, took: .zero), update("never", .skipped, took: .zero),
            ], name: "demo", status: .failed, exit: .unreachable)
        let text = try await PythonPeer.output(source: Self.reader, input: Array(JUnitReport.text(run).utf8))
        let read = try JSON(parsing: Array(text.utf8))
        #expect(read["problems"] == [])
        #expect(read["tests"] == 6 && read["failures"] == 1 && read["errors"] == 1 && read["skipped"] == 2)
        #expect(read["cases"]?.array?.count == 6)
        #expect(read["cases"]?[0]?["name"] == "fetch" && read["cases"]?[0]?["time"] == 1.0)
        let message = try #require(read["cases"]?[1]?["message"]?.string)
        #expect(message.contains("a&b <script>alert(1)</script> \"q\" 'r' ]]> \\u{1B}[31m \\u{0}"))
        #expect(message.contains("\n::error::x"))
        #expect(!message.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("A report has one case for each run of a step, and none for grouping steps")
    func leaves() {
        let text = JUnitReport.text(
            summary([
                update("outer[os=a/b]/in[x=1]", .ok), update("outer[os=a/b]/in", .ok), update("outer[os=a/b]", .ok),
                update("outer", .ok), update("retried", .failed, failed, exit: 4), update("retried", .ok),
            ]))
        #expect(text.components(of: "<testcase") == 2)
        #expect(text.contains("name=\"outer[os=a/b]/in[x=1]\"") && text.contains("name=\"retried\""))
        #expect(!text.contains("<error"))
    }

    @Test("A report keeps the failure of a bundle step whose outputs failed")
    func ownFailure() {
        let text = JUnitReport.text(
            summary(
                [update("outer/in", .ok), update("outer", .failed, failed, exit: 1)], status: .failed, exit: .failed))
        #expect(text.components(of: "<testcase") == 2 && text.contains("errors=\"1\""))
    }

    /// Validates a report with the schema for Ant's reports, and parses it with a real parser.
    private static let reader = """
        import json, sys, io, xmlschema
        from junitparser import JUnitXml
        text = sys.stdin.buffer.read()
        schema = xmlschema.XMLSchema('''
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
          <xs:complexType name="problem"><xs:simpleContent><xs:extension base="xs:string">
            <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string" use="required"/>
          </xs:extension></xs:simpleContent></xs:complexType>
          <xs:simpleType name="moment"><xs:restriction base="xs:dateTime">
            <xs:pattern value="[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"/></xs:restriction></xs:simpleType>
          <xs:element name="testsuites"><xs:complexType><xs:sequence>
            <xs:element name="testsuite" maxOccurs="unbounded"><xs:complexType><xs:sequence>
              <xs:element name="properties"><xs:complexType><xs:sequence>
                <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
                  <xs:attribute name="name" type="xs:token" use="required"/>
                  <xs:attribute name="value" type="xs:string" use="required"/></xs:complexType></xs:element>
              </xs:sequence></xs:complexType></xs:element>
              <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
                <xs:choice minOccurs="0"><xs:element name="skipped"/><xs:element name="error" type="problem"/>
                  <xs:element name="failure" type="problem"/></xs:choice>
                <xs:attribute name="name" type="xs:token" use="required"/>
                <xs:attribute name="classname" type="xs:token" use="required"/>
                <xs:attribute name="time" type="xs:decimal" use="required"/></xs:complexType></xs:element>
              <xs:element name="system-out" type="xs:string"/><xs:element name="system-err" type="xs:string"/>
              </xs:sequence>
              <xs:attribute name="name" type="xs:token" use="required"/>
              <xs:attribute name="package" type="xs:token" use="required"/>
              <xs:attribute name="id" type="xs:int" use="required"/>
              <xs:attribute name="timestamp" type="moment" use="required"/>
              <xs:attribute name="hostname" type="xs:token" use="required"/>
              <xs:attribute name="tests" type="xs:int" use="required"/>
              <xs:attribute name="failures" type="xs:int" use="required"/>
              <xs:attribute name="errors" type="xs:int" use="required"/>
              <xs:attribute name="skipped" type="xs:int"/>
              <xs:attribute name="time" type="xs:decimal" use="required"/>
            </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
        </xs:schema>''')
        problems = [str(e.reason) for e in schema.iter_errors(io.BytesIO(text))]
        suite = next(iter(JUnitXml.fromstring(text)))
        print(json.dumps(dict(problems=problems, tests=suite.tests, failures=suite.failures, errors=suite.errors,
            skipped=suite.skipped, cases=[dict(name=c.name, time=c.time,
            message=c.result[0].message if c.result else None) for c in suite])))
        """
}

extension String {
    func components(of text: String) -> Int { ranges(of: text).count }
}
