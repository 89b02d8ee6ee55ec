export function gatewayPort(env?: Record<string, string | undefined>): Promise<number>
export function isFree(port: number, host?: string): Promise<boolean>
