export interface Progress {
  line(text: string): void
  step<T>(text: string, work: () => T | Promise<T>, detail?: () => string): Promise<T>
}

export function openProgress(say: (line: string) => void): Progress
