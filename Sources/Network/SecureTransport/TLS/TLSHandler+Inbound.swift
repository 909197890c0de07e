package import NIOCore

extension TLSHandler {
    package func read(context: ChannelHandlerContext) {
        hasDemand = true
        if state == .open, engine.hasUnreadInput {
            deliver(context)
            completeDelivery(context)
        }
        // With automatic reading no read would follow.
        context.read()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let ciphertext = Self.unwrapInboundIn(data)
        switch state {
        case .idle, .handshaking:
            engine.receive(ciphertext)
            advanceHandshake(context)
            // The input after the end of the handshake may already be data.
            if state == .open, hasDemand, engine.hasUnreadInput { deliver(context) }
        case .open:
            engine.receive(ciphertext)
            if hasDemand { deliver(context) }
        case .closing:
            engine.receive(ciphertext)
            discardWhileClosing(context)
        case .failed:
            discardedBytes += ciphertext.readableBytes
            if discardedBytes > TransportLimits.lingerBytes { finishClosing(context) }
        case .closed, .left:
            break
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if hasDelivered { return completeDelivery(context) }
        switch state {
        case .handshaking, .closing, .failed: context.read()
        case .open where hasDemand: context.read()
        case .open, .idle, .closed, .left: break
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        endInput(context)
        if state != .left { state = .closed }
        deadline?.cancel()
        failPending(ChannelError.ioOnClosedChannel)
        settleClosePromises()
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            // The end of the socket's stream. The layer above gets the end of TLS's stream instead.
            endInput(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        transportHasFailed = true
        context.fireErrorCaught(error)
    }

    /// Decrypts all input and fires it, one buffer at a time.
    private func deliver(_ context: ChannelHandlerContext) {
        while state == .open, !engine.peerHasClosed {
            let bound = engine.unreadPlaintextBound
            guard bound > 0 else { return }
            let room = min(bound, TransportLimits.plaintextBytes)
            var plaintext = context.channel.allocator.buffer(capacity: room)
            let outcome: TLSEngine.Decrypted
            do throws(TLSError) {
                outcome = try engine.decrypt(into: &plaintext)
            } catch {
                completeDelivery(context)
                return fail(error, context)
            }
            // TLS's own answer, such as a new key.
            sendOutbound(context, promise: nil)
            if plaintext.readableBytes > 0 {
                hasDelivered = true
                context.fireChannelRead(Self.wrapInboundOut(plaintext))
            }
            switch outcome {
            case .full: continue
            case .needsInput: return
            case .ended: return peerHasEnded(context)
            }
        }
    }

    private func completeDelivery(_ context: ChannelHandlerContext) {
        guard hasDelivered else { return }
        hasDelivered = false
        hasDemand = false
        context.fireChannelReadComplete()
    }

    func peerHasEnded(_ context: ChannelHandlerContext) {
        completeDelivery(context)
        guard state == .open else { return }
        let allowsHalfClosure = (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) ?? false
        if allowsHalfClosure, outbound == .open {
            guard !hasFiredInputClosed else { return }
            hasFiredInputClosed = true
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            beginClosing(context)
        }
    }

    /// The socket has ended: delivers all input, even without demand, and then checks whether the stream was complete.
    private func endInput(_ context: ChannelHandlerContext) {
        if state == .left { return }
        socketInputHasEnded = true
        engine.endInput()
        switch state {
        case .handshaking:
            if transportHasFailed {
                finishClosing(context)
            } else {
                advanceHandshake(context)
            }
        case .open:
            deliver(context)
            completeDelivery(context)
            if state == .open, !engine.peerHasClosed {
                transportHasFailed ? finishClosing(context) : fail(.truncated, context)
            }
        case .closing:
            discardWhileClosing(context)
        case .failed:
            finishClosing(context)
        case .idle, .closed, .left:
            break
        }
    }

    /// Looks for the peer's close_notify in input that is no longer needed.
    func discardWhileClosing(_ context: ChannelHandlerContext) {
        guard engine.hasUnreadInput, !engine.peerHasClosed else { return advanceClosing(context) }
        var scrap = context.channel.allocator.buffer(capacity: engine.unreadPlaintextBound)
        while engine.hasUnreadInput {
            scrap.clear()
            // A broken record ends the connection at once, as encryption is impossible after it too.
            guard let outcome = try? engine.decrypt(into: &scrap) else { return finishClosing(context) }
            if outcome != .full { break }
        }
        advanceClosing(context)
    }
}
