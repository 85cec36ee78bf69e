/// A file of settings with the files that it includes, and the hosts that it is asked for.
struct ConfigurationCase: Sendable {
    let text: String
    let files: [String: String]
    let hosts: [String]

    /// `FOLDER` stands for where the files are.
    init(_ text: String, files: [String: String] = [:], _ hosts: String...) {
        (self.text, self.files, self.hosts) = (text, files, hosts)
    }

    static let all = plain + patterns + quotes + values + tokens + routes + includes + conditions + damaged

    private static let plain = [
        ConfigurationCase("", "web", "me@web", "ssh://me@web:2222", "[::1]:2222", "127.1"),
        ConfigurationCase("# only\n\n   # comments\n\t\n", "web"),
        ConfigurationCase(
            "Host web\n  HostName web.example.com\n  Port 2222\n  User deploy\n", "web", "other", "root@web:22"),
        ConfigurationCase("Port 1\nPort 2\nHost *\nPort 3\nUser a\nUser b\n", "x"),
        ConfigurationCase("Host a\nUser first\nHost *\nUser second\nPort 99\nHost b\nUser third\n", "a", "b", "c"),
        ConfigurationCase("HOST web\nhostNAME Web.Example.COM\nPORT 22\n", "web", "WEB"),
        ConfigurationCase("Host web\r\n  Port 2222\r\n  User me\r\nHost *\r\n User all\r\n", "web", "x"),
        ConfigurationCase("Host web\n  Port 2222", "web"),
    ]

    private static let patterns = [
        ConfigurationCase(
            "Host w?b *.example.com\nPort 1\nHost *\nPort 2\n", "web", "wb", "a.example.com", "example.com"),
        ConfigurationCase("Host *.com !bad.com good.org\nPort 1\n", "good.com", "bad.com", "good.org"),
        ConfigurationCase("Host !bad.com *.com\nPort 1\n", "good.com", "bad.com"),
        ConfigurationCase("Host !only\nPort 1\n", "only", "other"),
        ConfigurationCase("Host Web\nPort 1\nHost web\nPort 2\n", "Web", "web"),
        ConfigurationCase("Host a*b*c *?z\nPort 1\n", "abc", "aXbYc", "acb", "z", "yz"),
        ConfigurationCase("Host \"web\" 'two words' app\\ le\nPort 1\n", "web"),
        ConfigurationCase("Host web # comment app\nPort 1 # the port\n", "web", "app", "comment"),
        ConfigurationCase("Host 10.0.0.? 2001:db8::1\nUser v\n", "10.0.0.7", "10.0.0.17", "[2001:db8::1]:22"),
    ]

    private static let quotes = [
        ConfigurationCase("Port=2222\nUser = me\nHostName\t=\tname\n", "x"),
        ConfigurationCase(
            "User \"me\"\nHostKeyAlias 'An Alias'\nIdentityFile \"~/my keys/id\"\nIdentityFile 'it''s'\n", "x"),
        ConfigurationCase(
            "IdentityFile /a\\ b\nIdentityFile \"/a\\\"b\"\nIdentityFile /a\\nb\nIdentityFile \"/a\\ b\"\n", "x"),
        ConfigurationCase("\"Port\" 2222\n=User me\n  =  HashKnownHosts yes\n", "x"),
        ConfigurationCase("User a#b\nIdentityFile /x#y #z\nHostKeyAlias \"#\"\n", "x"),
        ConfigurationCase("User a\"b c\"d\n", "x"),
        ConfigurationCase("ProxyCommand = nc \"%h\" %p # kept\n", "x"),
        ConfigurationCase("\"unclosed 1\nUser me\n", "x"),
    ]

    private static let values = [
        ConfigurationCase(
            "ConnectTimeout 1h30m\nServerAliveInterval 2m\nServerAliveCountMax 7\nNumberOfPasswordPrompts 1\n", "x"),
        ConfigurationCase("ConnectTimeout none\nConnectTimeout 10\nServerAliveInterval 1w1d1h1m1s\n", "x"),
        ConfigurationCase("ProtocolKeepAlives 20\nBatchMode yes\n", "x"),
        ConfigurationCase("BatchMode yes\n", "x"),
        ConfigurationCase("RekeyLimit 1G 1h\n", "x"),
        ConfigurationCase("RekeyLimit default none\nRekeyLimit 2M 30m\n", "x"),
        ConfigurationCase("RekeyLimit 1.5M\nHost *\nRekeyLimit 1K 5\n", "x"),
        ConfigurationCase(
            "AddressFamily INET6\nCompression YES\nStrictHostKeyChecking Accept-New\nPubkeyAuthentication host-bound\n"
                + "PasswordAuthentication FALSE\nKbdInteractiveAuthentication no\nCheckHostIP yes\nHashKnownHosts true\n",
            "x"),
        ConfigurationCase(
            "ChallengeResponseAuthentication no\nDSAAuthentication no\nIdentityFile2 /k\nKeepAlive no\n"
                + "StrictHostKeyChecking off\nControlMaster autoask\n", "x"),
        ConfigurationCase(
            "LogLevel debug\nHostKeyAlias Some.Alias\nPreferredAuthentications publickey,password\nIdentitiesOnly yes\n"
                + "ControlMaster yes\nForwardAgent yes\n", "x"),
        ConfigurationCase("LogLevel QUIET\nPort ssh\nStrictHostKeyChecking no\nControlMaster ask\n", "x"),
        ConfigurationCase(
            "UserKnownHostsFile /a ~/b \"/c d\"\nUserKnownHostsFile /e\nGlobalKnownHostsFile /f /g\n", "x"),
        ConfigurationCase("UserKnownHostsFile none\nGlobalKnownHostsFile NONE\n", "x"),
        ConfigurationCase("IdentityFile none\n", "x"),
        ConfigurationCase(
            "IdentityFile ~/.ssh/a\nIdentityFile /b\nIdentityFile ~/.ssh/a\nHost x\nIdentityFile /c\n", "x", "y"),
        ConfigurationCase("HostKeyAlgorithms ssh-ed25519,rsa-sha2-512\n", "x"),
        ConfigurationCase("HostKeyAlgorithms +ssh-rsa,ssh-d*\n", "x"),
        ConfigurationCase("HostKeyAlgorithms -*cert*,ecdsa*\n", "x"),
        ConfigurationCase("HostKeyAlgorithms ^rsa-sha2-*,ssh-ed25519\n", "x"),
        ConfigurationCase("HostKeyAlgorithms ecdsa-*,ssh-ed25519,ssh-ed25519\n", "x"),
        ConfigurationCase("IgnoreUnknown Use*,Foo\nUseKeychain yes\nfoo bar\nPort 3\n", "x"),
        ConfigurationCase("Protocol 2\nRSAAuthentication yes\nCompressionLevel 9\nUsePrivilegedPort no\nUser u\n", "x"),
    ]

    private static let tokens = [
        ConfigurationCase("Host *\nHostName %h.example.com\n", "web", "a.b"),
        ConfigurationCase("HostName 100%%-%h\nHostKeyAlias %h\n", "web"),
        ConfigurationCase("HostName 127.1\n", "x"),
        ConfigurationCase("HostName FE80::0001\nAddressFamily inet6\n", "x"),
        ConfigurationCase("HostName 0x7f.1\nAddressFamily inet6\n", "x"),
        ConfigurationCase(
            "Port 2222\nUser me\nHostName target\nUserKnownHostsFile ~/%d/%h/%i/%k/%l/%L/%n/%p/%r/%u/%C /x%%y\n"
                + "ControlPath ~/.ssh/cm-%C\nIdentityFile ~/%h-%r\n", "web"),
        ConfigurationCase("HostKeyAlias ALIAS\nControlPath /tmp/%k-${A_NAME}\nControlPath none\n", "x"),
        ConfigurationCase("ControlPath none\nIdentityAgent ~/agent-%h\n", "x"),
        ConfigurationCase("IdentityAgent SSH_AUTH_SOCK\nUserKnownHostsFile ${A_NAME}/${A_NAME}\n", "x"),
        ConfigurationCase("IdentityAgent $A_NAME\nForwardAgent ${A_NAME}/x\n", "x"),
        ConfigurationCase("IdentityAgent none\nForwardAgent $A_NAME\n", "x"),
        ConfigurationCase("UserKnownHostsFile ~root/known ~root\n", "x"),
    ]

    private static let routes = [
        ConfigurationCase("ProxyJump jump\n", "x"),
        ConfigurationCase("ProxyJump me@a:1,ssh://b%40c@d:2,[::1]:3\n", "x"),
        ConfigurationCase("ProxyJump 10.0.0.1 # first\nProxyCommand nc %h %p\n", "x"),
        ConfigurationCase("ProxyCommand nc %h %p\nProxyJump jump\n", "x"),
        ConfigurationCase("ProxyCommand none\nProxyJump jump\n", "x"),
        ConfigurationCase("ProxyJump none\nProxyJump jump\n", "x"),
        ConfigurationCase("ProxyJump a,b c,d\nUser me\n", "x", "b", "me@b:22"),
        ConfigurationCase("Host x\nProxyJump none\nHost *\nProxyCommand nc %h\n", "x", "y"),
    ]

    private static let includes = [
        ConfigurationCase(
            "Include FOLDER/one FOLDER/missing\nUser late\n", files: ["one": "Host a\nUser early\nPort 5\n"], "a", "b"),
        ConfigurationCase(
            "Host a\nInclude FOLDER/x.*\nUser outer\n",
            files: ["x.1": "User inner\nHost b\nPort 7\n", "x.2": "Port 8\nHost a\nHashKnownHosts yes\n"], "a", "b"),
        ConfigurationCase(
            "Include FOLDER/a\nPort 3\n",
            files: ["a": "Include FOLDER/b\nPort 2\n", "b": "Match all\nUser deep\nHost none\n"], "x"),
        ConfigurationCase("Include FOLDER/self\n", files: ["self": "Include FOLDER/self\n"], "x"),
        ConfigurationCase("Port 1\nInclude FOLDER/bad\n", files: ["bad": "User\n"], "x"),
        ConfigurationCase("Host no\nInclude FOLDER/in\nHost x\nPort 2\n", files: ["in": "Host x\nPort 1\n"], "x"),
        ConfigurationCase("Include \"FOLDER/a b\" FOLDER\nPort 4\n", files: ["a b": "User me"], "x"),
        ConfigurationCase(
            "Include FOLDER/[ab]\n", files: ["a": "User a\n", "b": "User b\nPort 6\n", "c": "Port 7\n"], "x"),
    ]

    private static let conditions = [
        ConfigurationCase("Host no\nUser a\nMatch all\nPort 7\n", "x"),
        ConfigurationCase("Match !all\nPort 7\nMatch all # always\nUser u\n", "x"),
        ConfigurationCase("Match host a,*.b,!c.b\nPort 7\n", "a", "x.b", "c.b", "A"),
        ConfigurationCase(
            "Host short\nHostName real.example.com\nMatch host *.example.com\nPort 7\n", "short", "other"),
        ConfigurationCase(
            "Match originalhost web user root\nPort 1\nMatch user other,me !host web\nPort 2\nMatch localuser *\nUser l\n",
            "web", "me@web", "me@x", "root@web"),
        ConfigurationCase("Match host other exec \"exit 0\"\nPort 9\nMatch host=x\nPort 1\n", "x"),
        ConfigurationCase("Match host other localuser *\nPort 9\nMatch user nobody host x\nPort 8\n", "x"),
        ConfigurationCase("Match canonical\nPort 1\nMatch !canonical host x\nPort 2\n", "x"),
        ConfigurationCase("Match host \"x\" all\nPort 3\n", "x", "y"),
    ]

    private static let damaged = [
        "Port 70000", "Port 0", "Port", "Port 22 23", "Port x", "User", "User \"\"", "User 'a", "Host \"\"",
        "PasswordAuthentication maybe", "Compression true", "ConnectTimeout soon", "ConnectTimeout -5",
        "NumberOfPasswordPrompts -1", "NumberOfPasswordPrompts x", "NumberOfPasswordPrompts 99999999999999999999",
        "RekeyLimit 15", "RekeyLimit 1X", "RekeyLimit 1..5M", "LogLevel loud", "HostKeyAlgorithms ssh-foo",
        "HostKeyAlgorithms !ssh-rsa", "UserKnownHostsFile a none", "GlobalKnownHostsFile none b",
        "IdentityAgent ${NOT_SET_HERE}", "IdentityAgent $", "ForwardAgent ${A_NAME", "ProxyJump @x", "ProxyJump a:0",
        "ProxyJump ssh://[::1]", "ProxyJump a,,b", "ProxyJump a/b", "HostName %x", "UserKnownHostsFile %z",
        "ControlPath ${NOT_SET_HERE}", "UserKnownHostsFile ~nobody-has-this-name/x", "Match", "Match host",
        "Match all host x",
        "Match foo bar", "Match host x y", "Unknown yes", "Host x\nUnknown yes", "Host other\nPort bad",
        "Host other\nProt 1",
        "AddressFamily inet7", "StrictHostKeyChecking sometimes", "ServerAliveCountMax", "ForwardX11 maybe",
        "TCPKeepAlive", "ConnectionAttempts x", "VisualHostKey yes no", "LocalForward 1 a:2 b", "BatchMode yes extra",
    ].map { ConfigurationCase("# first\n\($0)\n", "x") }
}
