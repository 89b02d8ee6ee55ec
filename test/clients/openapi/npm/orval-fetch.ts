import { url } from './work.ts'

/** orval's functions make every request with it. */
export async function callRoster<T>(path: string, options: RequestInit): Promise<T> {
  const response = await fetch(url + path, options)
  return { status: response.status, headers: response.headers, data: await response.json() } as T
}
