@_spi(Fuzzing) import HTTPServer
import Testing

@Suite struct FuzzTargetTests {
    @Test("The fuzz targets accept any bytes")
    func anything() {
        var generator = SeededBytes(seed: 99)
        let words = ["GET ", "/", " HTTP/1.1", "\r\n", "Host: a", "5", ";x", "0", ":", "%2e", "?a=", "&", "\0", "é"]
        for _ in 0..<2000 {
            let bytes = (0..<generator.next(20)).flatMap { _ in Array(words[generator.next(words.count)].utf8) }
            FuzzTargets.requests(bytes)
            FuzzTargets.chunks(bytes)
            FuzzTargets.address(bytes)
        }
        #expect(Parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n").refusal == nil)
    }
}
