// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")
let expressionKit: Target.Dependency = .product(name: "ExpressionKit", package: "ExpressionKit")
let fileKit: Target.Dependency = .product(name: "FileKit", package: "FileKit")
let httpKit: Target.Dependency = .product(name: "HTTPKit", package: "HTTPKit")
let httpServer: Target.Dependency = .product(name: "HTTPServer", package: "HTTPKit")
let storageKit: Target.Dependency = .product(name: "StorageKit", package: "StorageKit")
let traceKit: Target.Dependency = .product(name: "TraceKit", package: "TraceKit")

let package = Package(
    name: "Trace",
    products: [.library(name: "Trace", targets: ["Trace", "TraceStore"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"),
        .package(path: "../../Kits/ExpressionKit"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/HTTPKit"),
        .package(path: "../../Kits/LoopKit"), .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Kits/TraceKit"),
    ],
    targets: [
        .target(name: "TraceStore", dependencies: [core, fileKit, storageKit, traceKit]),
        .target(name: "TraceExport", dependencies: ["TraceStore", core, httpKit, traceKit]),
        .target(
            name: "TraceReceiver",
            dependencies: [
                "TraceStore", core, httpServer, .product(name: "LoopKit", package: "LoopKit"), traceKit,
            ]),
        .target(
            name: "Trace",
            dependencies: [
                "TraceExport", "TraceReceiver", "TraceStore", core,
                .product(name: "Cryptography", package: "Cryptography"), expressionKit, fileKit, httpKit, httpServer,
                storageKit, traceKit,
            ]),
        .testTarget(
            name: "TraceTests",
            dependencies: [
                "TraceExport", "TraceReceiver", "TraceStore", "Trace", core,
                .product(name: "CoreTesting", package: "Core"), fileKit,
                httpKit, httpServer, .product(name: "HTTPTesting", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), storageKit, traceKit,
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
