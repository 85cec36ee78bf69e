import HTTPCore

extension Connection {
    /// A file on its way: the bytes that go out first, and which of the file's follow.
    private struct FilePlan: ~Copyable {
        let file: OpenFile
        var written: Written
        let rest: Range<Int>
    }

    @inline(never)
    nonisolated(nonsending) func writeFile(
        _ answer: HTTPAnswer, _ path: String, _ request: ServerRequest
    ) async throws -> Bool {
        guard OpenFile.isLarge(path) else { return try await writeFileHere(answer, path, request) }
        // A disk can block for seconds, and compressing takes its time.
        return try await core.files.run { try await self.writeFileHere(answer, path, request) }
    }

    @inline(never)
    private nonisolated(nonsending) func writeFileHere(
        _ answer: HTTPAnswer, _ path: String, _ request: ServerRequest
    ) async throws -> Bool {
        let plan = try plan(answer, path, request)
        var bytes = plan.written.bytes
        var offset = plan.rest.lowerBound
        while offset < plan.rest.upperBound {
            // A file that became shorter cannot be told any more; the client sees that the end is missing.
            guard let piece = plan.file.read(at: offset, count: min(128 << 10, plan.rest.upperBound - offset)),
                !piece.isEmpty
            else { throw ClientGone.finished }
            offset += piece.count
            bytes.append(contentsOf: piece)
            try await send(bytes)
            bytes.removeAll()
        }
        if !bytes.isEmpty { try await send(bytes) }
        return !plan.written.closes
    }

    @inline(never)
    private func plan(_ answer: HTTPAnswer, _ path: String, _ request: ServerRequest) throws -> FilePlan {
        let file = try OpenFile(path)
        var answer = answer
        if answer.headers["ETag"] == nil { answer.headers["ETag"] = file.etag }
        if answer.headers["Last-Modified"] == nil { answer.headers["Last-Modified"] = file.lastModified }
        var shape = try AnswerShape(answer, length: file.length, hasRanges: true, request.head)
        if shape.status == .ok, Gzip.canCompress(file.length, shape.headers) {
            guard var bytes = file.read(at: 0, count: file.length), bytes.count == file.length else {
                throw RequestProblem(.internalServerError, code: "server.file", "the file cannot be read")
            }
            shape.compress(&bytes, request.headers)
            var written = try whole(shape.status, shape.headers, bytes, shape.range, request)
            written.bytes += written.body
            return FilePlan(file: file, written: written, rest: 0..<0)
        }
        let head = makeHead(shape.status, shape.headers, .length(shape.range.count), request.head)
        var bytes: [UInt8] = []
        try head.write(into: &bytes, core.dateLine)
        let isBare = head.framing == .bare || request.method == .head
        begin(head, isBare ? 0 : shape.range.count)
        return FilePlan(
            file: file, written: Written(bytes: bytes, closes: head.closes), rest: isBare ? 0..<0 : shape.range)
    }
}
