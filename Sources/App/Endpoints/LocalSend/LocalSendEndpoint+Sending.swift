import Sharing

extension LocalSendEndpoint {
    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        throw SendError(.unfit, "nothing can be sent by LocalSend yet")
    }
}
