package main

import (
	"bytes"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// describe returns the exported API of p in a stable order: constants, variables and functions, then the types, each
// with its fields as declared and its methods by name. Every line stands for itself, so that two texts can be compared
// line by line.
func describe(p *types.Package) []string {
	w := writer{qualify: func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}}
	var constants, variables, functions []string
	for _, name := range p.Scope().Names() { // sorted
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Const:
			constants = append(constants, fmt.Sprintf("const %s %s = %s", name, w.text(o.Type()), o.Val().ExactString()))
		case *types.Var:
			variables = append(variables, fmt.Sprintf("var %s %s", name, w.text(o.Type())))
		case *types.Func:
			functions = append(functions, fmt.Sprintf("func %s%s", name, w.signature(o.Signature())))
		case *types.TypeName:
			w.declare(o)
		}
	}
	return slices.Concat(constants, variables, functions, w.types)
}

type writer struct {
	qualify types.Qualifier
	types   []string
}

func (w *writer) add(format string, args ...any) {
	w.types = append(w.types, fmt.Sprintf(format, args...))
}

func (w *writer) text(t types.Type) string { return types.TypeString(t, w.qualify) }

// signature is the type of a function without the word func.
func (w *writer) signature(s *types.Signature) string {
	var b bytes.Buffer
	types.WriteSignature(&b, s, w.qualify)
	return b.String()
}

// declare adds the lines of a type.
func (w *writer) declare(o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		w.add("type %s%s = %s", o.Name(), w.parameters(alias.TypeParams()), w.text(alias.Rhs()))
		return
	}
	named := o.Type().(*types.Named)
	head := "type " + o.Name() + w.parameters(named.TypeParams())
	switch t := named.Underlying().(type) {
	case *types.Struct:
		w.fields(head+" struct", t)
	case *types.Interface:
		w.elements(head+" interface", t)
		return // its methods are its elements
	default:
		w.add("%s %s", head, w.text(t))
	}
	w.methods(named)
}

// parameters is a list of type parameters as it is declared, "" for none.
func (w *writer) parameters(list *types.TypeParamList) string {
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+w.text(p.Constraint()))
	}
	if all == nil {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (w *writer) fields(head string, t *types.Struct) {
	w.add("%s", head)
	hidden := false
	for i := range t.NumFields() {
		f := t.Field(i)
		if !f.Exported() {
			hidden = true
			continue
		}
		line := head + ", "
		if f.Embedded() {
			line += "embedded "
		} else {
			line += f.Name() + " "
		}
		line += w.text(f.Type())
		if tag := t.Tag(i); tag != "" {
			line += " `" + tag + "`"
		}
		w.add("%s", line)
	}
	if hidden {
		w.add("%s, unexported fields", head)
	}
}

func (w *writer) elements(head string, t *types.Interface) {
	w.add("%s", head)
	for e := range t.EmbeddedTypes() {
		w.add("%s, %s", head, w.text(e))
	}
	hidden := false
	for m := range t.ExplicitMethods() { // sorted
		if !m.Exported() {
			hidden = true
			continue
		}
		w.add("%s, %s%s", head, m.Name(), w.signature(m.Signature()))
	}
	if hidden {
		w.add("%s, unexported methods", head)
	}
}

// methods adds the methods of a type, those that it has from embedded fields included.
func (w *writer) methods(t *types.Named) {
	byValue := types.NewMethodSet(t)
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() { // sorted
		f := m.Obj().(*types.Func)
		if !f.Exported() {
			continue
		}
		star := "*"
		if byValue.Lookup(f.Pkg(), f.Name()) != nil {
			star = ""
		}
		w.add("method (%s%s%s) %s%s", star, t.Obj().Name(), arguments(t, f), f.Name(), w.signature(f.Signature()))
	}
}

// arguments is the receiver's list of type parameters, by the names that the method itself uses.
func arguments(t *types.Named, f *types.Func) string {
	list := f.Signature().RecvTypeParams()
	if list.Len() == 0 { // none, or a method of an embedded field
		list = t.TypeParams()
	}
	var names []string
	for p := range list.TypeParams() {
		names = append(names, p.Obj().Name())
	}
	if names == nil {
		return ""
	}
	return "[" + strings.Join(names, ", ") + "]"
}
