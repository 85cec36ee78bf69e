/// How far one step of a TLS connection came.
public enum TLSProgress: Sendable, Hashable {
    /// Done, with the number of bytes read or written; 0 for a handshake and a shutdown.
    case done(Int)
    /// Nothing more can be done before the socket can be read; repeat the same step then.
    case wantRead
    /// Nothing more can be done before the socket can be written; repeat the same step then.
    case wantWrite
    /// The peer said that it sends nothing more.
    case closed
    /// It failed, and the connection is of no use any more.
    case failed(CryptographyError)
}
