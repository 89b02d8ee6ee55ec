import type { GrantsProject } from '#gen/console/api'
import { states } from './words.ts'

export function ProjectState({ project }: { project: Pick<GrantsProject, 'state'> }) {
  const { text, tone } = states[project.state ?? 'PROJECT_STATE_UNSPECIFIED'] ?? { text: project.state, tone: '' }
  return <span class={`tag ${tone}`}>{text}</span>
}
