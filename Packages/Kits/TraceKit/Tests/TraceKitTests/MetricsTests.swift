import Testing

@testable import TraceKit

@Suite("Metrics in Prometheus' format") struct MetricsTests {
    @Test("Labels and buckets are written in Prometheus' format")
    func text() {
        let number = MetricFamily("a", .gauge, "What", [.init(.whole(1), [("b", "c\"d\\e\nf")])])
        #expect(
            PrometheusText([number]).text == "# HELP a What\n# TYPE a gauge\na{b=\"c\\\"d\\\\e\\nf\"} 1\n")
        var histogram = Histogram()
        for milliseconds in [2, 2, 20_000, 1_000_000] { histogram.add(.milliseconds(milliseconds)) }
        let buckets = PrometheusText([MetricFamily("t", .histogram, "Times", [.init(.histogram(histogram))])])
        #expect(buckets.text.contains("t_bucket{le=\"0.001\"} 0\nt_bucket{le=\"0.005\"} 2\n"))
        #expect(
            buckets.text.contains("t_bucket{le=\"30.0\"} 3\n") && buckets.text.contains("t_bucket{le=\"+Inf\"} 4\n"))
        #expect(buckets.text.hasSuffix("t_sum 1020.004\nt_count 4\n"))
    }
}
