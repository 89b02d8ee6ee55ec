import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js'
import { unreadBytes } from '../../rate-limits/under-way.ts'

export interface GrpcServerSettings {
  MAX_STREAMS_PER_CONNECTION: number
  MAX_CALL_TIMEOUT_MS: number
  STREAM_MAX_AGE_MS: number
}

/**
 * Creates the server that keeps the HTTP/2 connections, and answers health and reflection. It listens nowhere: see
 * `Listener`.
 */
export function createGrpcServer(config: GrpcServerSettings): Server {
  // The log of grpc-js shows metadata, and so tokens.
  setLogVerbosity(logVerbosity.NONE)
  return new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_concurrent_streams': config.MAX_STREAMS_PER_CONNECTION,
    'grpc.max_receive_message_length': unreadBytes,
    'grpc.max_send_message_length': -1,
    'grpc.max_connection_idle_ms': 300_000,
    // Streams that a client never ends are ended with their connection.
    'grpc.max_connection_age_ms': 3_600_000,
    'grpc.max_connection_age_grace_ms': Math.max(config.MAX_CALL_TIMEOUT_MS, config.STREAM_MAX_AGE_MS + 1000),
    'grpc.keepalive_time_ms': 60_000,
    'grpc.keepalive_timeout_ms': 20_000,
  })
}
