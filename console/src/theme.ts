import { effect, signal } from '@preact/signals'

const themes = ['auto', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

export const theme = signal<Theme>(themes.find(name => name === localStorage.getItem('purser-theme')) ?? 'auto')

effect(() => {
  if (theme.value === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
  localStorage.setItem('purser-theme', theme.value)
})

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'auto'
}
